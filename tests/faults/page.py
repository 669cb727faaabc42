"""A page of the workspace in a process of its own, to be killed. Usage: page.py URL TOKEN STATE.

It registers `set_score`, prints `registered`, and at a call does what STATE says, then prints
`called`: `answers` answers it, `running` keeps it, `answering` sends half of an answer.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.fakes.declared import SET_SCORE
from tests.faults.wire import Wire, frame

url, token, state = sys.argv[1:]
page = Wire(url, "/workspace")
page.say(type="hello", token=token)
page.say(type="register_tools", appId="app_x", tools=[SET_SCORE])
page.next("tools_registered")
sys.stdout.write("registered\n")
sys.stdout.flush()
while True:
    call = page.next("call_tool")
    answer = {"type": "tool_result", "callId": call["callId"], "ok": True, "result": "done"}
    if state == "answers":
        page.say(**answer)
    elif state == "answering":
        whole = frame(json.dumps(answer).encode())
        page.socket.sendall(whole[: len(whole) // 2])
    sys.stdout.write("called\n")
    sys.stdout.flush()
