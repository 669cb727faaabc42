;; SHA-256 under buffer-abi/1: up to 8,192 bytes in at 0x400, 32 bytes out at 0x2400.
;; sha256(length) returns 32, or -1 where length is over 8,192.
;;
;; Memory beside the two buffers:
;;   0x3000  64 round constants      (FIPS 180-4, 4.2.2)
;;   0x3100   8 words, initial state (FIPS 180-4, 5.3.3)
;;   0x3200   8 words, running state
;;   0x3300  64 words, message schedule of one block
;;   0x3400  two blocks: the input's rest with its padding
(module
  (memory (export "memory") 1)

  (data (i32.const 0x3000)
    "\98\2f\8a\42\91\44\37\71\cf\fb\c0\b5\a5\db\b5\e9"
    "\5b\c2\56\39\f1\11\f1\59\a4\82\3f\92\d5\5e\1c\ab"
    "\98\aa\07\d8\01\5b\83\12\be\85\31\24\c3\7d\0c\55"
    "\74\5d\be\72\fe\b1\de\80\a7\06\dc\9b\74\f1\9b\c1"
    "\c1\69\9b\e4\86\47\be\ef\c6\9d\c1\0f\cc\a1\0c\24"
    "\6f\2c\e9\2d\aa\84\74\4a\dc\a9\b0\5c\da\88\f9\76"
    "\52\51\3e\98\6d\c6\31\a8\c8\27\03\b0\c7\7f\59\bf"
    "\f3\0b\e0\c6\47\91\a7\d5\51\63\ca\06\67\29\29\14"
    "\85\0a\b7\27\38\21\1b\2e\fc\6d\2c\4d\13\0d\38\53"
    "\54\73\0a\65\bb\0a\6a\76\2e\c9\c2\81\85\2c\72\92"
    "\a1\e8\bf\a2\4b\66\1a\a8\70\8b\4b\c2\a3\51\6c\c7"
    "\19\e8\92\d1\24\06\99\d6\85\35\0e\f4\70\a0\6a\10"
    "\16\c1\a4\19\08\6c\37\1e\4c\77\48\27\b5\bc\b0\34"
    "\b3\0c\1c\39\4a\aa\d8\4e\4f\ca\9c\5b\f3\6f\2e\68"
    "\ee\82\8f\74\6f\63\a5\78\14\78\c8\84\08\02\c7\8c"
    "\fa\ff\be\90\eb\6c\50\a4\f7\a3\f9\be\f2\78\71\c6")
  (data (i32.const 0x3100)
    "\67\e6\09\6a\85\ae\67\bb\72\f3\6e\3c\3a\f5\4f\a5"
    "\7f\52\0e\51\8c\68\05\9b\ab\d9\83\1f\19\cd\e0\5b")

  ;; A word in the other byte order.
  (func $swap (param $x i32) (result i32)
    (i32.or
      (i32.and (i32.rotl (local.get $x) (i32.const 8)) (i32.const 0x00ff00ff))
      (i32.and (i32.rotr (local.get $x) (i32.const 8)) (i32.const 0xff00ff00))))

  ;; rotr(x, i) xor rotr(x, j) xor rotr(x, k): the large sigmas.
  (func $sigma (param $x i32) (param $i i32) (param $j i32) (param $k i32) (result i32)
    (i32.xor
      (i32.rotr (local.get $x) (local.get $i))
      (i32.xor
        (i32.rotr (local.get $x) (local.get $j))
        (i32.rotr (local.get $x) (local.get $k)))))

  ;; The same with a shift in the third place: the small sigmas.
  (func $gamma (param $x i32) (param $i i32) (param $j i32) (param $k i32) (result i32)
    (i32.xor
      (i32.rotr (local.get $x) (local.get $i))
      (i32.xor
        (i32.rotr (local.get $x) (local.get $j))
        (i32.shr_u (local.get $x) (local.get $k)))))

  ;; Fill the schedule from a block of 64 bytes (6.2.2, step 1).
  (func $schedule (param $block i32)
    (local $t i32) ;; byte offset in the schedule
    (loop $words
      (i32.store offset=0x3300 (local.get $t)
        (call $swap (i32.load (i32.add (local.get $block) (local.get $t)))))
      (local.set $t (i32.add (local.get $t) (i32.const 4)))
      (br_if $words (i32.lt_u (local.get $t) (i32.const 64))))
    (loop $more
      (i32.store offset=0x3300 (local.get $t)
        (i32.add
          (i32.add
            ;; W[t-2], W[t-7], W[t-15] and W[t-16], counted from the schedule's start
            (call $gamma (i32.load offset=0x32f8 (local.get $t))
              (i32.const 17) (i32.const 19) (i32.const 10))
            (i32.load offset=0x32e4 (local.get $t)))
          (i32.add
            (call $gamma (i32.load offset=0x32c4 (local.get $t))
              (i32.const 7) (i32.const 18) (i32.const 3))
            (i32.load offset=0x32c0 (local.get $t)))))
      (local.set $t (i32.add (local.get $t) (i32.const 4)))
      (br_if $more (i32.lt_u (local.get $t) (i32.const 256)))))

  ;; Take one block of 64 bytes into the running state (6.2.2, steps 2 to 4).
  (func $compress (param $block i32)
    (local $a i32) (local $b i32) (local $c i32) (local $d i32)
    (local $e i32) (local $f i32) (local $g i32) (local $h i32)
    (local $t i32) (local $t1 i32) (local $t2 i32)
    (call $schedule (local.get $block))
    (local.set $a (i32.load (i32.const 0x3200)))
    (local.set $b (i32.load (i32.const 0x3204)))
    (local.set $c (i32.load (i32.const 0x3208)))
    (local.set $d (i32.load (i32.const 0x320c)))
    (local.set $e (i32.load (i32.const 0x3210)))
    (local.set $f (i32.load (i32.const 0x3214)))
    (local.set $g (i32.load (i32.const 0x3218)))
    (local.set $h (i32.load (i32.const 0x321c)))
    (loop $rounds
      (local.set $t1
        (i32.add
          (i32.add
            (local.get $h)
            (call $sigma (local.get $e) (i32.const 6) (i32.const 11) (i32.const 25)))
          (i32.add
            ;; Ch(e, f, g)
            (i32.xor
              (i32.and (local.get $e) (local.get $f))
              (i32.and (i32.xor (local.get $e) (i32.const -1)) (local.get $g)))
            (i32.add
              (i32.load offset=0x3000 (local.get $t))
              (i32.load offset=0x3300 (local.get $t))))))
      (local.set $t2
        (i32.add
          (call $sigma (local.get $a) (i32.const 2) (i32.const 13) (i32.const 22))
          ;; Maj(a, b, c)
          (i32.xor
            (i32.and (local.get $a) (local.get $b))
            (i32.xor
              (i32.and (local.get $a) (local.get $c))
              (i32.and (local.get $b) (local.get $c))))))
      (local.set $h (local.get $g))
      (local.set $g (local.get $f))
      (local.set $f (local.get $e))
      (local.set $e (i32.add (local.get $d) (local.get $t1)))
      (local.set $d (local.get $c))
      (local.set $c (local.get $b))
      (local.set $b (local.get $a))
      (local.set $a (i32.add (local.get $t1) (local.get $t2)))
      (local.set $t (i32.add (local.get $t) (i32.const 4)))
      (br_if $rounds (i32.lt_u (local.get $t) (i32.const 256))))
    (call $add_to_state (i32.const 0x3200) (local.get $a))
    (call $add_to_state (i32.const 0x3204) (local.get $b))
    (call $add_to_state (i32.const 0x3208) (local.get $c))
    (call $add_to_state (i32.const 0x320c) (local.get $d))
    (call $add_to_state (i32.const 0x3210) (local.get $e))
    (call $add_to_state (i32.const 0x3214) (local.get $f))
    (call $add_to_state (i32.const 0x3218) (local.get $g))
    (call $add_to_state (i32.const 0x321c) (local.get $h)))

  (func $add_to_state (param $at i32) (param $x i32)
    (i32.store (local.get $at) (i32.add (i32.load (local.get $at)) (local.get $x))))

  ;; Copy words: count is in bytes, a multiple of 4.
  (func $copy_words (param $to i32) (param $from i32) (param $count i32)
    (loop $next
      (local.set $count (i32.sub (local.get $count) (i32.const 4)))
      (i32.store
        (i32.add (local.get $to) (local.get $count))
        (i32.load (i32.add (local.get $from) (local.get $count))))
      (br_if $next (local.get $count))))

  ;; Put the rest of the input, a 1 bit, zeros and the length in bits into the last one or
  ;; two blocks (5.1.1); return how many bytes they are.
  (func $pad (param $from i32) (param $rest i32) (param $length i32) (result i32)
    (local $i i32) (local $size i32)
    (loop $zero
      (i64.store offset=0x3400 (local.get $i) (i64.const 0))
      (local.set $i (i32.add (local.get $i) (i32.const 8)))
      (br_if $zero (i32.lt_u (local.get $i) (i32.const 128))))
    (local.set $i (i32.const 0))
    (block $done
      (loop $byte
        (br_if $done (i32.eq (local.get $i) (local.get $rest)))
        (i32.store8 offset=0x3400 (local.get $i)
          (i32.load8_u (i32.add (local.get $from) (local.get $i))))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br $byte)))
    (i32.store8 offset=0x3400 (local.get $rest) (i32.const 0x80))
    (local.set $size
      (select (i32.const 64) (i32.const 128) (i32.lt_u (local.get $rest) (i32.const 56))))
    ;; 8,192 bytes are 65,536 bits: the low word of the length is enough.
    (i32.store offset=0x33fc (local.get $size)
      (call $swap (i32.shl (local.get $length) (i32.const 3))))
    (local.get $size))

  (func (export "sha256") (param $length i32) (result i32)
    (local $at i32) (local $end i32)
    (if (i32.gt_u (local.get $length) (i32.const 8192))
      (then (return (i32.const -1))))
    (call $copy_words (i32.const 0x3200) (i32.const 0x3100) (i32.const 32))
    ;; Whole blocks straight from the input buffer.
    (local.set $at (i32.const 0x400))
    (local.set $end
      (i32.add (local.get $at) (i32.and (local.get $length) (i32.const -64))))
    (block $whole
      (loop $blocks
        (br_if $whole (i32.eq (local.get $at) (local.get $end)))
        (call $compress (local.get $at))
        (local.set $at (i32.add (local.get $at) (i32.const 64)))
        (br $blocks)))
    (local.set $end
      (call $pad (local.get $at) (i32.and (local.get $length) (i32.const 63)) (local.get $length)))
    (call $compress (i32.const 0x3400))
    (if (i32.eq (local.get $end) (i32.const 128))
      (then (call $compress (i32.const 0x3440))))
    ;; The state as big-endian words is the digest.
    (local.set $at (i32.const 0))
    (loop $words
      (i32.store offset=0x2400 (local.get $at)
        (call $swap (i32.load offset=0x3200 (local.get $at))))
      (local.set $at (i32.add (local.get $at) (i32.const 4)))
      (br_if $words (i32.lt_u (local.get $at) (i32.const 32))))
    (i32.const 32))
)
