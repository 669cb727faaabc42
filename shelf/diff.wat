;; A line diff under buffer-abi/diff: A at 0x10000, B at 0x20000, blocks out at 0x30000.
;; diff(lengthA, lengthB) returns the bytes written, or -1 where a length is over 65,536.
;;
;; Hirschberg's algorithm: find where an optimal alignment crosses the middle line of A, then
;; solve both halves alike. The two rows that tell the crossing are computed 64 columns at a
;; time: column j is a bit that is 0 where the row's length of the longest common subsequence
;; grows (Crochemore and others 2001, Hyyro 2004). Time is about lines(A) * lines(B) / 16,
;; memory grows with lines, and both are bounded by the size of the buffers.
;;
;; Each distinct line is a class; lines are compared as class numbers. A class that is
;; frequent in B has a mask of its columns ready, the mask of a rare one is written when it
;; is needed. Lines end with their LF; a last line without one is a line of its own kind.
;;
;; A script holds 15,420 blocks. One that would be longer ends with a deletion of all that is
;; left of A and an insertion of all that is left of B, which is still a right answer.
;;
;; Memory behind the buffers; arrays are of i32 unless they say otherwise:
;;   0x070000  class of each line of A
;;   0x0b0000  class of each line of B
;;   0x0f0000  of each class: address of its first line
;;   0x170000  of each class: that line's length in bytes
;;   0x1f0000  of each class: how many lines of B it has
;;   0x270000  of each class: where its lines begin in the next array
;;   0x2f0000  lines of B, class by class, ascending
;;   0x330000  of each class: address of its two masks, or 0 where it is rare
;;   0x3b0000  hash table of classes, each plus 1; 0 is a free slot
;;   0x4b0000  bytes: 1 for each line of A that is kept
;;   0x4c0000  bytes: 1 for each line of B that is kept
;;   0x4d0000  bits: the row from the top,    columns of B from its start
;;   0x4d2000  bits: the row from the bottom, columns of B from its end
;;   0x4d4000  bits: the mask of a rare class
;;   0x4e0000  masks of frequent classes: at most 341 pairs of 8 KiB each
(module
  (memory (export "memory") 168)

  (global $lines_a (mut i32) (i32.const 0))
  (global $lines_b (mut i32) (i32.const 0))
  (global $classes (mut i32) (i32.const 0))
  (global $slots (mut i32) (i32.const 0))     ;; size of the hash table, less 1
  (global $mask_bytes (mut i32) (i32.const 0))
  (global $out (mut i32) (i32.const 0))       ;; where the next block goes
  (global $blocks (mut i32) (i32.const 0))

  ;; ---- lines and their classes ------------------------------------------------------------

  (func $count_lines (param $at i32) (param $length i32) (result i32)
    (local $end i32) (local $count i32)
    (local.set $end (i32.add (local.get $at) (local.get $length)))
    (block $done
      (loop $line
        (br_if $done (i32.eq (local.get $at) (local.get $end)))
        (local.set $at (call $line_end (local.get $at) (local.get $end)))
        (local.set $count (i32.add (local.get $count) (i32.const 1)))
        (br $line)))
    (local.get $count))

  ;; The address after the line that starts at $at, which is before $end.
  (func $line_end (param $at i32) (param $end i32) (result i32)
    (local $byte i32)
    (loop $next
      (local.set $byte (i32.load8_u (local.get $at)))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $next
        (i32.and
          (i32.ne (local.get $byte) (i32.const 10))
          (i32.ne (local.get $at) (local.get $end)))))
    (local.get $at))

  ;; Write the class of each line from $at on to $to.
  (func $read_lines (param $at i32) (param $length i32) (param $to i32)
    (local $end i32) (local $next i32)
    (local.set $end (i32.add (local.get $at) (local.get $length)))
    (block $done
      (loop $line
        (br_if $done (i32.eq (local.get $at) (local.get $end)))
        (local.set $next (call $line_end (local.get $at) (local.get $end)))
        (i32.store (local.get $to)
          (call $class_of (local.get $at) (i32.sub (local.get $next) (local.get $at))))
        (local.set $to (i32.add (local.get $to) (i32.const 4)))
        (local.set $at (local.get $next))
        (br $line))))

  ;; Find the class of a line in the hash table, or make it.
  (func $class_of (param $at i32) (param $length i32) (result i32)
    (local $slot i32) (local $class i32)
    (local.set $slot (call $hash (local.get $at) (local.get $length)))
    (block $free
      (loop $probe
        (local.set $slot (i32.and (local.get $slot) (global.get $slots)))
        (local.set $class
          (i32.load offset=0x3b0000 (i32.shl (local.get $slot) (i32.const 2))))
        (br_if $free (i32.eqz (local.get $class)))
        (local.set $class (i32.sub (local.get $class) (i32.const 1)))
        (if (call $is_line_of (local.get $class) (local.get $at) (local.get $length))
          (then (return (local.get $class))))
        (local.set $slot (i32.add (local.get $slot) (i32.const 1)))
        (br $probe)))
    (local.set $class (global.get $classes))
    (global.set $classes (i32.add (local.get $class) (i32.const 1)))
    (i32.store offset=0x3b0000
      (i32.shl (local.get $slot) (i32.const 2)) (global.get $classes))
    (local.set $slot (i32.shl (local.get $class) (i32.const 2)))
    (i32.store offset=0x0f0000 (local.get $slot) (local.get $at))
    (i32.store offset=0x170000 (local.get $slot) (local.get $length))
    (local.get $class))

  ;; FNV-1a, with its high bits folded into those that choose the slot.
  (func $hash (param $at i32) (param $length i32) (result i32)
    (local $end i32) (local $hash i32)
    (local.set $end (i32.add (local.get $at) (local.get $length)))
    (local.set $hash (i32.const 0x811c9dc5))
    (loop $byte
      (local.set $hash
        (i32.mul
          (i32.xor (local.get $hash) (i32.load8_u (local.get $at)))
          (i32.const 0x01000193)))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $byte (i32.ne (local.get $at) (local.get $end))))
    (i32.xor (local.get $hash) (i32.shr_u (local.get $hash) (i32.const 15))))

  (func $is_line_of (param $class i32) (param $at i32) (param $length i32) (result i32)
    (local $other i32) (local $end i32)
    (local.set $class (i32.shl (local.get $class) (i32.const 2)))
    (if (i32.ne (local.get $length) (i32.load offset=0x170000 (local.get $class)))
      (then (return (i32.const 0))))
    (local.set $other (i32.load offset=0x0f0000 (local.get $class)))
    (local.set $end (i32.add (local.get $at) (local.get $length)))
    (loop $byte
      (if (i32.ne (i32.load8_u (local.get $at)) (i32.load8_u (local.get $other)))
        (then (return (i32.const 0))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (local.set $other (i32.add (local.get $other) (i32.const 1)))
      (br_if $byte (i32.ne (local.get $at) (local.get $end))))
    (i32.const 1))

  (func $class_a (param $line i32) (result i32)
    (i32.load offset=0x070000 (i32.shl (local.get $line) (i32.const 2))))

  (func $class_b (param $line i32) (result i32)
    (i32.load offset=0x0b0000 (i32.shl (local.get $line) (i32.const 2))))

  ;; ---- where each class stands in B -------------------------------------------------------

  (func $index_b
    (local $line i32) (local $class i32) (local $sum i32) (local $next i32)
    (memory.fill (i32.const 0x1f0000) (i32.const 0)
      (i32.shl (global.get $classes) (i32.const 2)))
    (block $counted
      (loop $count
        (br_if $counted (i32.eq (local.get $line) (global.get $lines_b)))
        (local.set $class (i32.shl (call $class_b (local.get $line)) (i32.const 2)))
        (i32.store offset=0x1f0000 (local.get $class)
          (i32.add (i32.load offset=0x1f0000 (local.get $class)) (i32.const 1)))
        (local.set $line (i32.add (local.get $line) (i32.const 1)))
        (br $count)))
    ;; First the end of each class's lines; writing them backwards turns it into the start.
    (local.set $class (i32.const 0))
    (block $summed
      (loop $sums
        (br_if $summed (i32.eq (local.get $class) (i32.shl (global.get $classes) (i32.const 2))))
        (local.set $sum
          (i32.add (local.get $sum) (i32.load offset=0x1f0000 (local.get $class))))
        (i32.store offset=0x270000 (local.get $class) (local.get $sum))
        (local.set $class (i32.add (local.get $class) (i32.const 4)))
        (br $sums)))
    (block $placed
      (loop $place
        (br_if $placed (i32.eqz (local.get $line)))
        (local.set $line (i32.sub (local.get $line) (i32.const 1)))
        (local.set $class (i32.shl (call $class_b (local.get $line)) (i32.const 2)))
        (local.set $next
          (i32.sub (i32.load offset=0x270000 (local.get $class)) (i32.const 1)))
        (i32.store offset=0x270000 (local.get $class) (local.get $next))
        (i32.store offset=0x2f0000 (i32.shl (local.get $next) (i32.const 2)) (local.get $line))
        (br $place)))
    (call $make_masks))

  ;; Give a pair of masks to each class with 64 lines or more.
  (func $make_masks
    (local $class i32) (local $next i32) (local $at i32)
    (global.set $mask_bytes
      (i32.shl
        (i32.shr_u (i32.add (global.get $lines_b) (i32.const 63)) (i32.const 6))
        (i32.const 3)))
    (memory.fill (i32.const 0x4d4000) (i32.const 0) (global.get $mask_bytes))
    (local.set $next (i32.const 0x4e0000))
    (block $done
      (loop $each
        (br_if $done (i32.eq (local.get $class) (global.get $classes)))
        (local.set $at (i32.const 0))
        (if (i32.ge_u (call $count_of (local.get $class)) (i32.const 64))
          (then
            (local.set $at (local.get $next))
            (local.set $next
              (i32.add (local.get $next) (i32.shl (global.get $mask_bytes) (i32.const 1))))
            (memory.fill (local.get $at) (i32.const 0)
              (i32.sub (local.get $next) (local.get $at)))
            (call $set_columns (local.get $class) (local.get $at) (i32.const 0))
            (call $set_columns (local.get $class)
              (i32.add (local.get $at) (global.get $mask_bytes)) (i32.const 1))))
        (i32.store offset=0x330000 (i32.shl (local.get $class) (i32.const 2)) (local.get $at))
        (local.set $class (i32.add (local.get $class) (i32.const 1)))
        (br $each))))

  (func $count_of (param $class i32) (result i32)
    (i32.load offset=0x1f0000 (i32.shl (local.get $class) (i32.const 2))))

  ;; Turn the bits of a class's lines over in a mask; from B's end where $upwards.
  (func $set_columns (param $class i32) (param $mask i32) (param $upwards i32)
    (local $at i32) (local $end i32) (local $column i32) (local $byte i32)
    (local.set $at
      (i32.shl
        (i32.load offset=0x270000 (i32.shl (local.get $class) (i32.const 2)))
        (i32.const 2)))
    (local.set $end
      (i32.add (local.get $at) (i32.shl (call $count_of (local.get $class)) (i32.const 2))))
    (loop $each
      (local.set $column (i32.load offset=0x2f0000 (local.get $at)))
      (if (local.get $upwards)
        (then (local.set $column (call $mirrored (local.get $column)))))
      (local.set $byte (i32.add (local.get $mask) (i32.shr_u (local.get $column) (i32.const 3))))
      (i32.store8 (local.get $byte)
        (i32.xor
          (i32.load8_u (local.get $byte))
          (i32.shl (i32.const 1) (i32.and (local.get $column) (i32.const 7)))))
      (local.set $at (i32.add (local.get $at) (i32.const 4)))
      (br_if $each (i32.lt_u (local.get $at) (local.get $end)))))

  ;; A column as counted from the other end of B.
  (func $mirrored (param $column i32) (result i32)
    (i32.sub (i32.sub (global.get $lines_b) (i32.const 1)) (local.get $column)))

  ;; ---- rows -------------------------------------------------------------------------------

  ;; Compute the row at $row: lines of A from $from by $step up to but without $to, against
  ;; the columns from $first up to but without $last.
  (func $compute_row
    (param $row i32) (param $from i32) (param $to i32) (param $step i32)
    (param $first i32) (param $last i32)
    (local $class i32) (local $mask i32) (local $upwards i32) (local $is_rare i32)
    (local $start i32) (local $size i32)
    (local.set $upwards (i32.lt_s (local.get $step) (i32.const 0)))
    (local.set $start (i32.shl (i32.shr_u (local.get $first) (i32.const 6)) (i32.const 3)))
    (local.set $size
      (i32.sub
        (i32.shl
          (i32.shr_u (i32.add (local.get $last) (i32.const 63)) (i32.const 6))
          (i32.const 3))
        (local.get $start)))
    (memory.fill (i32.add (local.get $row) (local.get $start)) (i32.const 255) (local.get $size))
    (loop $line
      (local.set $class (call $class_a (local.get $from)))
      (if (call $count_of (local.get $class))
        (then
          (local.set $mask
            (i32.load offset=0x330000 (i32.shl (local.get $class) (i32.const 2))))
          (local.set $is_rare (i32.eqz (local.get $mask)))
          (if (local.get $is_rare)
            (then
              (local.set $mask (i32.const 0x4d4000))
              (call $set_columns (local.get $class) (local.get $mask) (local.get $upwards)))
            (else
              (if (local.get $upwards)
                (then
                  (local.set $mask (i32.add (local.get $mask) (global.get $mask_bytes)))))))
          (call $add_line
            (i32.add (local.get $row) (local.get $start))
            (i32.add (local.get $mask) (local.get $start))
            (local.get $size)
            (i64.shl (i64.const -1) (i64.extend_i32_u (local.get $first))))
          (if (local.get $is_rare)
            (then
              (call $set_columns (local.get $class) (local.get $mask) (local.get $upwards))))))
      (local.set $from (i32.add (local.get $from) (local.get $step)))
      (br_if $line (i32.ne (local.get $from) (local.get $to)))))

  ;; One line of A: row = (row + (row and mask)) or (row and not mask), as one long number.
  ;; $edge blanks the columns before the first one in the first word.
  (func $add_line (param $row i32) (param $mask i32) (param $size i32) (param $edge i64)
    (local $end i32) (local $word i64) (local $match i64) (local $sum i64) (local $carry i64)
    (local.set $end (i32.add (local.get $row) (local.get $size)))
    (loop $words
      (local.set $word (i64.load (local.get $row)))
      (local.set $match
        (i64.and
          (i64.and (local.get $word) (i64.load (local.get $mask)))
          (local.get $edge)))
      (local.set $edge (i64.const -1))
      ;; The sum of word, match and carry; only one of the two additions can overflow.
      (local.set $sum (i64.add (local.get $word) (local.get $match)))
      (local.set $match (i64.xor (local.get $word) (local.get $match)))
      (local.set $word (i64.extend_i32_u (i64.lt_u (local.get $sum) (local.get $word))))
      (local.set $sum (i64.add (local.get $sum) (local.get $carry)))
      (local.set $carry
        (i64.or
          (local.get $word)
          (i64.extend_i32_u (i64.lt_u (local.get $sum) (local.get $carry)))))
      (i64.store (local.get $row) (i64.or (local.get $sum) (local.get $match)))
      (local.set $mask (i32.add (local.get $mask) (i32.const 8)))
      (local.set $row (i32.add (local.get $row) (i32.const 8)))
      (br_if $words (i32.ne (local.get $row) (local.get $end)))))

  ;; Whether the row grows at a column: 1 or 0.
  (func $grows (param $row i32) (param $column i32) (result i32)
    (i32.and
      (i32.xor
        (i32.shr_u
          (i32.load8_u (i32.add (local.get $row) (i32.shr_u (local.get $column) (i32.const 3))))
          (i32.and (local.get $column) (i32.const 7)))
        (i32.const 1))
      (i32.const 1)))

  ;; The column at which both rows together are longest, from $first to $last.
  (func $best_column (param $first i32) (param $last i32) (result i32)
    (local $best i32) (local $most i32) (local $sum i32)
    (local.set $best (local.get $first))
    (loop $each
      (local.set $sum
        (i32.add
          (local.get $sum)
          (i32.sub
            (call $grows (i32.const 0x4d0000) (local.get $first))
            (call $grows (i32.const 0x4d2000) (call $mirrored (local.get $first))))))
      (local.set $first (i32.add (local.get $first) (i32.const 1)))
      (if (i32.gt_s (local.get $sum) (local.get $most))
        (then
          (local.set $most (local.get $sum))
          (local.set $best (local.get $first))))
      (br_if $each (i32.ne (local.get $first) (local.get $last))))
    (local.get $best))

  ;; ---- Hirschberg -------------------------------------------------------------------------

  ;; Keep the lines of a longest common subsequence of A from $a to $a_end and B from $b to
  ;; $b_end, ends not included.
  (func $solve (param $a i32) (param $a_end i32) (param $b i32) (param $b_end i32)
    (local $middle i32) (local $column i32)
    (block $differs
      (loop $same
        (br_if $differs (i32.eq (local.get $a) (local.get $a_end)))
        (br_if $differs (i32.eq (local.get $b) (local.get $b_end)))
        (br_if $differs
          (i32.ne (call $class_a (local.get $a)) (call $class_b (local.get $b))))
        (call $keep (local.get $a) (local.get $b))
        (local.set $a (i32.add (local.get $a) (i32.const 1)))
        (local.set $b (i32.add (local.get $b) (i32.const 1)))
        (br $same)))
    (block $differs
      (loop $same
        (br_if $differs (i32.eq (local.get $a) (local.get $a_end)))
        (br_if $differs (i32.eq (local.get $b) (local.get $b_end)))
        (local.set $middle (i32.sub (local.get $a_end) (i32.const 1)))
        (local.set $column (i32.sub (local.get $b_end) (i32.const 1)))
        (br_if $differs
          (i32.ne (call $class_a (local.get $middle)) (call $class_b (local.get $column))))
        (call $keep (local.get $middle) (local.get $column))
        (local.set $a_end (local.get $middle))
        (local.set $b_end (local.get $column))
        (br $same)))
    (if
      (i32.or
        (i32.eq (local.get $a) (local.get $a_end))
        (i32.eq (local.get $b) (local.get $b_end)))
      (then (return)))
    (local.set $middle
      (i32.shr_u (i32.add (local.get $a) (local.get $a_end)) (i32.const 1)))
    (if (i32.eq (local.get $a) (local.get $middle))
      (then
        (call $keep_one (local.get $a) (local.get $b) (local.get $b_end))
        (return)))
    (call $compute_row (i32.const 0x4d0000)
      (local.get $a) (local.get $middle) (i32.const 1)
      (local.get $b) (local.get $b_end))
    (call $compute_row (i32.const 0x4d2000)
      (i32.sub (local.get $a_end) (i32.const 1))
      (i32.sub (local.get $middle) (i32.const 1))
      (i32.const -1)
      (i32.sub (global.get $lines_b) (local.get $b_end))
      (i32.sub (global.get $lines_b) (local.get $b)))
    (local.set $column (call $best_column (local.get $b) (local.get $b_end)))
    (call $solve (local.get $a) (local.get $middle) (local.get $b) (local.get $column))
    (call $solve (local.get $middle) (local.get $a_end) (local.get $column) (local.get $b_end)))

  (func $keep (param $a i32) (param $b i32)
    (i32.store8 offset=0x4b0000 (local.get $a) (i32.const 1))
    (i32.store8 offset=0x4c0000 (local.get $b) (i32.const 1)))

  ;; Keep a single line of A if B has it between $b and $end.
  (func $keep_one (param $a i32) (param $b i32) (param $end i32)
    (loop $search
      (if (i32.eq (call $class_a (local.get $a)) (call $class_b (local.get $b)))
        (then
          (call $keep (local.get $a) (local.get $b))
          (return)))
      (local.set $b (i32.add (local.get $b) (i32.const 1)))
      (br_if $search (i32.ne (local.get $b) (local.get $end)))))

  ;; ---- blocks -----------------------------------------------------------------------------

  ;; Write a block; an empty one is left out, and a side without lines starts at 0.
  (func $write (param $op i32) (param $a i32) (param $a_count i32)
    (param $b i32) (param $b_count i32)
    (if (i32.eqz (i32.or (local.get $a_count) (local.get $b_count)))
      (then (return)))
    (i32.store8 (global.get $out) (local.get $op))
    (i32.store offset=1 (global.get $out)
      (select (local.get $a) (i32.const 0) (local.get $a_count)))
    (i32.store offset=5 (global.get $out) (local.get $a_count))
    (i32.store offset=9 (global.get $out)
      (select (local.get $b) (i32.const 0) (local.get $b_count)))
    (i32.store offset=13 (global.get $out) (local.get $b_count))
    (global.set $out (i32.add (global.get $out) (i32.const 17)))
    (global.set $blocks (i32.add (global.get $blocks) (i32.const 1))))

  ;; Walk A and B from block to block.
  (func $write_blocks
    (local $a i32) (local $b i32) (local $a_end i32) (local $b_end i32)
    (block $done
      (loop $each
        (br_if $done
          (i32.and
            (i32.eq (local.get $a) (global.get $lines_a))
            (i32.eq (local.get $b) (global.get $lines_b))))
        (local.set $a_end (global.get $lines_a))
        (local.set $b_end (global.get $lines_b))
        ;; Three blocks more, and then the two that end every script, must fit.
        (if (i32.le_u (global.get $blocks) (i32.const 15415))
          (then
            (local.set $a_end (call $run_a (local.get $a) (i32.const 0)))
            (local.set $b_end (call $run_b (local.get $b) (i32.const 0)))))
        (call $write (i32.const 1)
          (local.get $a) (i32.sub (local.get $a_end) (local.get $a))
          (i32.const 0) (i32.const 0))
        (call $write (i32.const 2)
          (i32.const 0) (i32.const 0)
          (local.get $b) (i32.sub (local.get $b_end) (local.get $b)))
        (local.set $a (local.get $a_end))
        (local.set $b (local.get $b_end))
        ;; Kept lines of A and B come in pairs; a run of them ends with the shorter one.
        (local.set $a_end
          (i32.sub (call $run_a (local.get $a) (i32.const 1)) (local.get $a)))
        (local.set $b_end
          (i32.sub (call $run_b (local.get $b) (i32.const 1)) (local.get $b)))
        (if (i32.gt_u (local.get $a_end) (local.get $b_end))
          (then (local.set $a_end (local.get $b_end))))
        (call $write (i32.const 0)
          (local.get $a) (local.get $a_end) (local.get $b) (local.get $a_end))
        (local.set $a (i32.add (local.get $a) (local.get $a_end)))
        (local.set $b (i32.add (local.get $b) (local.get $a_end)))
        (br $each))))

  ;; The first line of A from $line on that is not of a kind: kept (1) or not (0).
  (func $run_a (param $line i32) (param $kept i32) (result i32)
    (block $done
      (loop $each
        (br_if $done (i32.eq (local.get $line) (global.get $lines_a)))
        (br_if $done
          (i32.ne (i32.load8_u offset=0x4b0000 (local.get $line)) (local.get $kept)))
        (local.set $line (i32.add (local.get $line) (i32.const 1)))
        (br $each)))
    (local.get $line))

  (func $run_b (param $line i32) (param $kept i32) (result i32)
    (block $done
      (loop $each
        (br_if $done (i32.eq (local.get $line) (global.get $lines_b)))
        (br_if $done
          (i32.ne (i32.load8_u offset=0x4c0000 (local.get $line)) (local.get $kept)))
        (local.set $line (i32.add (local.get $line) (i32.const 1)))
        (br $each)))
    (local.get $line))

  ;; ---- the exported function --------------------------------------------------------------

  (func (export "diff") (param $length_a i32) (param $length_b i32) (result i32)
    (if
      (i32.or
        (i32.gt_u (local.get $length_a) (i32.const 65536))
        (i32.gt_u (local.get $length_b) (i32.const 65536)))
      (then (return (i32.const -1))))
    (global.set $lines_a (call $count_lines (i32.const 0x10000) (local.get $length_a)))
    (global.set $lines_b (call $count_lines (i32.const 0x20000) (local.get $length_b)))
    (call $prepare)
    (call $read_lines (i32.const 0x10000) (local.get $length_a) (i32.const 0x070000))
    (call $read_lines (i32.const 0x20000) (local.get $length_b) (i32.const 0x0b0000))
    (call $index_b)
    (call $solve
      (i32.const 0) (global.get $lines_a) (i32.const 0) (global.get $lines_b))
    (call $write_blocks)
    (i32.store8 (global.get $out) (i32.const 0xff))
    (i32.sub (i32.add (global.get $out) (i32.const 1)) (i32.const 0x30000)))

  ;; Forget an earlier call. The hash table is at least twice as large as there are lines.
  (func $prepare
    (global.set $classes (i32.const 0))
    (global.set $blocks (i32.const 0))
    (global.set $out (i32.const 0x30000))
    (memory.fill (i32.const 0x4b0000) (i32.const 0) (global.get $lines_a))
    (memory.fill (i32.const 0x4c0000) (i32.const 0) (global.get $lines_b))
    (global.set $slots
      (i32.shr_u
        (i32.const -1)
        (i32.clz
          (i32.or
            (i32.shl (i32.add (global.get $lines_a) (global.get $lines_b)) (i32.const 1))
            (i32.const 1)))))
    (memory.fill (i32.const 0x3b0000) (i32.const 0)
      (i32.shl (i32.add (global.get $slots) (i32.const 1)) (i32.const 2))))
)
