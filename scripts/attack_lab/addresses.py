"""Where an attack may aim at, and how every name leads to the witness."""

from urllib.parse import urlsplit

from scripts.browser_lab.witness import Witness

OWN_HOSTS = ("*.google.com", "*.googleapis.com", "*.gvt1.com", "*duckduckgo.com", "*.debian.org")


def with_addresses(html: bytes, witness: Witness, relay: str | None = None) -> bytes:
    """The file with the addresses of witness and relay; without a relay, the witness is both."""
    relay_port = urlsplit(relay).port if relay else witness.tcp_port
    for name, port in {
        b"{{witness}}": witness.tcp_port,
        b"{{udp}}": witness.udp_port,
        b"{{relay}}": relay_port,
    }.items():
        html = html.replace(name, f"127.0.0.1:{port}".encode())
    return html


def all_names_lead_to(port: int) -> str:
    """A flag that sends every host name to one loopback port, but for what Chromium asks itself."""
    rules = [
        *(f"MAP {name} ~NOTFOUND" for name in OWN_HOSTS),
        f"MAP * 127.0.0.1:{port}",
        "EXCLUDE 127.0.0.1",
        "EXCLUDE localhost",
    ]
    return f"--host-resolver-rules={', '.join(rules)}"
