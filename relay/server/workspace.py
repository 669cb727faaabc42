"""GET /workspace: the browser bridge. Registrations in, call_tool out, results back."""

import structlog
from aiohttp import web
from msgspec import UNSET

from relay.protocol import codec, messages
from relay.protocol.messages import ToolFrame
from relay.protocol.refusals import Refusal
from relay.room import Room, WorkspacePage
from relay.server.client_socket import ClientSocket, serve_socket
from relay.server.keys import ROOMS
from relay.server.registration import registered_message

_log = structlog.get_logger(__name__)


async def workspace(request: web.Request) -> web.WebSocketResponse:
    """Hold one page's socket."""
    app = request.app

    async def handle(socket: ClientSocket, hello: messages.Hello) -> None:
        await _serve(socket, hello, app[ROOMS].get(hello.room))

    return await serve_socket(request, "workspace", handle)


async def _serve(socket: ClientSocket, hello: messages.Hello, room: Room) -> None:
    known = None if hello.workspace_id is UNSET else str(hello.workspace_id)
    attachment = room.attach_page(socket.send, known)
    page = attachment.page

    def on_frame(_: ToolFrame, encoded: bytes) -> None:
        socket.send_encoded(encoded)

    unsubscribe = room.feed.subscribe(on_frame)
    socket.send(messages.Welcome(room=room.name, workspace_id=page.workspace_id))
    try:
        async for data in socket.receive():
            try:
                await _take(codec.decode_workspace_client(data), room, page, socket)
            except Refusal as refusal:
                socket.refuse(refusal)
    finally:
        unsubscribe()
        room.detach_page(attachment)


async def _take(
    message: messages.WorkspaceClientMessage, room: Room, page: WorkspacePage, socket: ClientSocket
) -> None:
    match message:
        case messages.RegisterTools(app_id=app_id, tools=tools):
            admission = await room.register(page, app_id, tools)
            socket.send(registered_message(app_id, admission))
        case messages.AppClosed(app_id=app_id):
            room.close_app(page, app_id)
        case messages.ToolResult():
            page.host.answer(message)
        case messages.AppState(app_id=app_id, state=state):
            _log.info("app_state", app_id=app_id, state=state)
            if state == "stopped":
                room.close_app(page, app_id)
