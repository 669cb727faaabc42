"""What became of a registration, in the words of the wire; shared by socket and HTTP."""

from relay.protocol import messages
from relay.tools.tool import Admission


def accepted_and_rejected(
    admission: Admission,
) -> tuple[list[messages.AcceptedTool], list[messages.RejectedTool]]:
    """Both lists, in the order of the declarations."""
    accepted = [
        messages.AcceptedTool(name=tool.spec.name, exposed_name=tool.exposed_name)
        for tool in admission.accepted
    ]
    rejected = [
        messages.RejectedTool(name=name[:64], refused=str(refusal.code), why=refusal.why)
        for name, refusal in admission.rejected
    ]
    return accepted, rejected


def registered_message(app_id: str, admission: Admission) -> messages.ToolsRegistered:
    """The answer to `register_tools`."""
    accepted, rejected = accepted_and_rejected(admission)
    return messages.ToolsRegistered(app_id=app_id, accepted=accepted, rejected=rejected)
