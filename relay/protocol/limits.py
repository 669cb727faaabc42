"""Every bound of the contract, in one frozen struct; the unit ends each name.

How one process runs (port, folders, keys) is in `relay.settings`, not here. Tests build a
tighter `Limits` instead of waiting for a real deadline.
"""

from typing import Annotated

from msgspec import Meta, Struct

KIB = 1024
MIB = 1024 * KIB


def _of(sentence: str) -> Meta:
    return Meta(description=sentence)


class Limits(Struct, frozen=True, kw_only=True):
    """The bounds that clients, apps and tools meet."""

    # Sockets
    hello_timeout_ms: Annotated[int, _of("Silence after connecting that ends a socket.")] = 5_000
    message_max_bytes: Annotated[int, _of("Largest message on any socket.")] = 4 * MIB
    audio_message_max_bytes: Annotated[int, _of("Largest binary message on /live.")] = MIB
    text_turn_max_chars: Annotated[int, _of("Longest typed turn.")] = 8_192
    ping_interval_ms: Annotated[int, _of("Time between pings of the relay.")] = 20_000
    messages_burst_max: Annotated[
        int, _of("Messages that a client may send at once; after them it is read more slowly.")
    ] = 2_048
    messages_per_second_max: Annotated[
        int, _of("Messages of a client that are read in a second, after the burst.")
    ] = 500
    send_queue_max_messages: Annotated[
        int, _of("Control messages that may wait for a slow client.")
    ] = 1_024
    send_queue_max_bytes: Annotated[
        int, _of("Bytes that may wait for a slow client; more closes it with 1013.")
    ] = MIB
    send_buffer_max_bytes: Annotated[
        int, _of("Bytes that the operating system is asked to hold for a slow client, at most.")
    ] = 256 * KIB
    audio_backlog_max_bytes: Annotated[
        int, _of("Answer audio handed to a client's socket before the relay waits.")
    ] = 16 * KIB
    stuck_client_ms: Annotated[
        int,
        _of(
            "A send that blocks, or sound that nobody reads, for longer closes the client, which "
            "has a second to go."
        ),
    ] = 3_500
    frame_history_max: Annotated[int, _of("Tool frames that a room remembers.")] = 1_000
    frame_history_max_bytes: Annotated[
        int, _of("Bytes of the tool frames that a room remembers; the oldest go first.")
    ] = 2 * MIB
    observer_queue_max_frames: Annotated[
        int, _of("Tool frames that wait for a slow dashboard; older ones are dropped.")
    ] = 256
    observer_queue_max_bytes: Annotated[
        int, _of("Bytes of the tool frames that wait for a slow dashboard.")
    ] = MIB
    rooms_max: Annotated[int, _of("Rooms of one relay.")] = 64
    sockets_per_room_max: Annotated[int, _of("Sockets of each kind in one room.")] = 64
    sockets_max: Annotated[int, _of("Open sockets of one relay.")] = 1_024
    live_sockets_max: Annotated[int, _of("Voice sessions of one relay.")] = 512
    workspace_sockets_max: Annotated[int, _of("Sockets of pages of one relay.")] = 512
    frames_sockets_max: Annotated[int, _of("Dashboards of one relay.")] = 512
    sockets_before_hello_max: Annotated[
        int, _of("Sockets that may wait to say hello; one more ends the oldest's wait.")
    ] = 128
    hello_failures_burst_max: Annotated[
        int, _of("Wrong tokens on sockets that are answered before they are throttled.")
    ] = 32
    hello_failures_per_second_max: Annotated[
        int, _of("Wrong tokens on sockets that are answered in a second, after the burst.")
    ] = 4
    registrations_burst_max: Annotated[
        int, _of("Registrations that a room takes at once, from each page and from HTTP.")
    ] = 64
    registrations_per_second_max: Annotated[
        int, _of("Registrations that a room takes in a second, after the burst.")
    ] = 16
    page_grace_ms: Annotated[
        int, _of("Time in which a page that dropped may come back for its tools.")
    ] = 2_000
    # Audio
    playout_lead_ms: Annotated[int, _of("Audio sent ahead of real time, at most.")] = 200
    playout_queue_max_ms: Annotated[
        int, _of("Answer audio that may wait to be played; a longer answer is cut.")
    ] = 120_000
    # Declarations
    tools_per_app_max: Annotated[int, _of("Tools that one app may register.")] = 16
    tool_declaration_max_bytes: Annotated[int, _of("Compact JSON of one tool.")] = 65_536
    tool_name_max_chars: Annotated[int, _of("Length of a tool's name.")] = 64
    tool_description_max_units: Annotated[int, _of("Description, in UTF-16 units.")] = 1_024
    schema_depth_max: Annotated[int, _of("Nesting of a parameter schema.")] = 16
    schema_nodes_max: Annotated[int, _of("Property schemas in one declaration.")] = 512
    tools_body_max_bytes: Annotated[int, _of("Body of POST /api/mini-app/tools.")] = 65_536
    apps_per_page_max: Annotated[int, _of("Apps with tools on one workspace page.")] = 32
    # Arguments and results
    arguments_max_bytes: Annotated[int, _of("Compact JSON of a call's arguments.")] = 65_536
    arguments_depth_max: Annotated[int, _of("Nesting of arguments, the root at 0.")] = 32
    arguments_nodes_max: Annotated[int, _of("Values in arguments, with the root.")] = 2_048
    tool_output_max_bytes: Annotated[int, _of("JSON text of a tool's result, in UTF-8.")] = 65_536
    frame_output_max_chars: Annotated[int, _of("Output shown in a tool frame.")] = 256
    why_max_chars: Annotated[int, _of("Longest sentence of a refusal.")] = 512
    # Calls
    tool_call_timeout_ms: Annotated[int, _of("Deadline of a mini-app's tool.")] = 5_000
    calls_per_session_max: Annotated[int, _of("Calls that one session runs at a time.")] = 16
    calls_burst_max: Annotated[int, _of("Calls that one session may make at once.")] = 128
    calls_per_second_max: Annotated[
        int, _of("Calls that one session may make in a second, after the burst.")
    ] = 64
    call_log_max: Annotated[int, _of("Names of withdrawn tools that a room remembers.")] = 1_024
    # Live models behind a socket
    provider_dial_timeout_ms: Annotated[int, _of("Time to reach a remote model.")] = 10_000
    provider_setup_timeout_ms: Annotated[
        int, _of("Time in which a remote model must say that it is ready.")
    ] = 10_000
    provider_close_timeout_ms: Annotated[
        int, _of("Time that a remote model has to answer a close.")
    ] = 1_000
    provider_ping_interval_ms: Annotated[
        int, _of("Silence of a remote model before it is pinged; half of it waits for the pong.")
    ] = 120_000
    provider_message_max_bytes: Annotated[int, _of("Largest message from a remote model.")] = (
        16 * MIB
    )
    provider_queue_max_messages: Annotated[
        int, _of("Messages that may wait for a remote model; more counts as a lost connection.")
    ] = 1_024
    provider_audio_queue_max_bytes: Annotated[
        int, _of("Sound on its way to a remote model; older sound is dropped.")
    ] = 2 * MIB
    provider_stuck_ms: Annotated[
        int, _of("A send to a remote model that blocks for longer loses the connection.")
    ] = 5_000
    provider_reconnects_max: Annotated[int, _of("Attempts to take a lost connection up again.")] = 5
    provider_reconnect_delay_ms: Annotated[
        int, _of("Wait before the second attempt; it doubles with each.")
    ] = 250
    provider_steady_ms: Annotated[
        int, _of("A connection that held this long starts the count of attempts anew.")
    ] = 10_000
    provider_tools_max: Annotated[int, _of("Tools told to a remote model.")] = 128
    provider_memory_max_chars: Annotated[
        int, _of("Text of a conversation that a fresh connection is told.")
    ] = 16_384
    provider_memory_max_turns: Annotated[
        int, _of("Turns of a conversation that a fresh connection is told.")
    ] = 64
    # The mini-app sandbox of the page
    app_messages_per_second_max: Annotated[
        int, _of("Messages of one app in a second; more ends the app.")
    ] = 500
    app_bytes_per_second_max: Annotated[
        int, _of("Bytes in an app's messages of one second; more ends the app.")
    ] = 8 * MIB
    app_ping_interval_ms: Annotated[int, _of("Time between pings of an app.")] = 1_000
    app_silence_max_ms: Annotated[
        int, _of("Silence after which an app is shown as not responding.")
    ] = 3_000
    app_start_max_ms: Annotated[
        int, _of("Silence after an app's own page has loaded that ends the app.")
    ] = 30_000
    app_ready_quiet_ms: Annotated[
        int, _of("An app that never says ready() is ready after this quiet time.")
    ] = 250
    app_storage_max_units: Annotated[
        int, _of("UTF-16 units that an app's in-memory Storage holds.")
    ] = 5 * MIB
    app_console_lines_per_second_max: Annotated[
        int, _of("Lines of an app's console that are told in a second; others are counted.")
    ] = 20
    app_console_lines_max: Annotated[
        int, _of("Lines of an app's console that the page keeps; the oldest go first.")
    ] = 100
    app_console_line_max_chars: Annotated[
        int, _of("Longest line of an app's console, in UTF-16 units; a longer one is cut.")
    ] = 2_048
    focus_gesture_max_ms: Annotated[
        int, _of("An app may take the keyboard this long after a click or a Tab.")
    ] = 500
    focus_steals_max: Annotated[
        int, _of("Times that an app may grab the keyboard before the person is told.")
    ] = 3
    focus_steals_stop_max: Annotated[
        int, _of("Times that an app may grab the keyboard before it is stopped.")
    ] = 10
    # The WebAssembly shelf (names of the seed document)
    wasm_call_deadline_ms: Annotated[int, _of("Deadline of a shelf tool.")] = 5_000
    wasm_module_max_bytes: Annotated[int, _of("Largest module file.")] = 16 * MIB
    wasm_child_max_stdout_bytes: Annotated[int, _of("Largest answer of a worker.")] = 2 * MIB
    wasm_child_watchdog_ms: Annotated[int, _of("A worker ends itself after this time.")] = 6_000
    wasm_memory_max_bytes: Annotated[int, _of("Linear memory of a module.")] = 64 * MIB
    wasm_running_max: Annotated[int, _of("Shelf calls that run at a time.")] = 8
    wasm_waiting_max: Annotated[int, _of("Shelf calls that wait; one more is shelf-busy.")] = 64
    wasm_waiting_max_ms: Annotated[
        int, _of("Longest wait of a shelf call for a place; then shelf-busy.")
    ] = 10_000
    wasm_compile_deadline_ms: Annotated[int, _of("Deadline of compiling a module, once.")] = 30_000
    wasm_compile_memory_max_bytes: Annotated[int, _of("Memory of compiling a module.")] = 512 * MIB
    wasm_artefact_max_bytes: Annotated[int, _of("Largest compiled module.")] = 64 * MIB
    wasm_artefacts_max_bytes: Annotated[
        int, _of("Compiled modules kept in memory; the least used go first.")
    ] = 64 * MIB
    wasm_worker_memory_max_bytes: Annotated[
        int, _of("Memory of a worker beside the module's own.")
    ] = 16 * MIB
    wasm_spares_min: Annotated[int, _of("Workers that wait for a call.")] = 4
    wasm_spares_max: Annotated[int, _of("Workers that wait for a call during a burst.")] = 16
    wasm_spares_idle_ms: Annotated[
        int, _of("Quiet time after which the spares of a burst end.")
    ] = 30_000
    wasm_declarations_max: Annotated[
        int, _of("Types, functions or exports that a module may declare.")
    ] = 100_000
    wasm_tools_max: Annotated[int, _of("Entries in a shelf's manifest.")] = 64
    wasm_manifest_max_bytes: Annotated[int, _of("Largest manifest.json of a shelf.")] = MIB
    wasm_watch_interval_ms: Annotated[
        int, _of("Time between two looks at the shelf for changed files.")
    ] = 2_000
    # HTTP and files
    http_idle_ms: Annotated[
        int, _of("Silence that ends an HTTP connection, also one that never asked anything.")
    ] = 30_000
    http_stuck_ms: Annotated[
        int, _of("An answer of which nothing is read for so long is dropped with its connection.")
    ] = 10_000
    http_unread_max_bytes: Annotated[
        int,
        _of(
            "Bytes of answers that wait to be read, of all connections together; over it the one "
            "that has read nothing for longest is dropped."
        ),
    ] = 64 * MIB
    body_max_bytes: Annotated[int, _of("Body of any other JSON route; more is 413.")] = MIB
    mini_app_max_bytes: Annotated[int, _of("Largest mini-app file.")] = 5 * MIB
    mini_app_title_max_chars: Annotated[int, _of("Longest title; a longer one is cut.")] = 120
    mini_app_name_max_bytes: Annotated[int, _of("File name of a mini-app, in UTF-8.")] = 160
    mini_app_record_max_bytes: Annotated[int, _of("A record beside an app on the shelf.")] = (
        64 * KIB
    )
    mini_app_files_max: Annotated[
        int, _of("HTML files in a listing; more are left out, and it says `truncated`.")
    ] = 20_000
    mini_app_entries_max: Annotated[
        int, _of("Files and folders that a listing looks at; the rest is left out.")
    ] = 100_000
    mini_app_scan_max_bytes: Annotated[
        int, _of("Bytes of all files together that a listing looks into for titles.")
    ] = 256 * MIB
    mini_app_folders_watched_max: Annotated[int, _of("Folders that are watched for news.")] = 512
    mini_app_watch_settle_ms: Annotated[
        int, _of("Changes on disk within this time are told together.")
    ] = 300
    mini_app_watch_rest_ms: Annotated[
        int, _of("Time between two looks at the folders for what no event told.")
    ] = 1_500
    mini_app_news_max: Annotated[
        int, _of("Changes told one by one; more at once are told as one message.")
    ] = 32
    mini_app_store_wait_ms: Annotated[
        int, _of("Longest wait for another relay that is saving into the same folder.")
    ] = 5_000
    mini_app_yes_min_ms: Annotated[
        int, _of("A yes that comes sooner after the question was not a person's.")
    ] = 1_000
    mini_app_yes_max_ms: Annotated[int, _of("Time in which a question waits for its yes.")] = 60_000


LIMITS = Limits()
