"""A queue, a map, a lock and a coin that answer calls, each with mistakes to choose from: `system.py queue lifo`."""

import json
import os
import sys
import time

kind, mistake = sys.argv[1], sys.argv[2]
queue, map_, holder = [], {}, None


def call(name, args, process):
    global holder
    if name == "Enqueue":
        if mistake == "full" and len(queue) == 3:
            return {"refused": True}
        if mistake != "lose" or len(queue) < 3:
            queue.append(args["elem"])
        return {}
    if name == "Dequeue":
        if not queue or mistake == "empty" and len(queue) == 2:
            return {"outcome": "DequeueEmpty"}
        elem = queue.pop() if mistake == "lifo" else queue.pop(0)
        if mistake == "twice" and len(queue) == 2:
            queue.insert(0, elem)
        return {"outcome": "Dequeue", "results": {"elem": elem}}
    if name == "Put":
        map_[args["key"]] = 1 if mistake == "value" and len(map_) == 2 else args["value"]
        return {}
    if name == "Store":
        map_[args["k"]] = args["v"]
        return {}
    if name == "Get":
        return {"results": {"value": map_.get(args["key"], 1 if mistake == "missing" else None)}}
    if name == "Remove":
        if mistake != "keep" or args["key"] != 2:
            map_.pop(args["key"], None)
        return {}
    if name == "Toss":
        return {"state": {"side": 0}}
    if name == "Look":
        return {"results": {"value": 1}}
    if name == "Lock":
        if holder is not None and mistake != "steal":
            return {"refused": True}
        holder = process
        return {}
    if name == "Unlock":
        if holder != process and mistake != "any":
            return {"refused": True}
        if mistake != "stuck" or process != "b":
            holder = None
        return {}


if mistake == "early":
    while True:
        print("{}", flush=True)

for line in sys.stdin:
    asked = json.loads(line)
    if mistake == "closed" and len(queue) == 3:
        os.close(1)
        time.sleep(60)
    if mistake == "bytes" and len(queue) == 3:
        os.write(1, b"\xff\n")
        time.sleep(60)
    if mistake == "endless" and len(queue) == 3:
        while True:
            os.write(1, b"a" * 65536)
    if mistake == "crash" and len(queue) == 3:
        sys.exit(7)
    if mistake == "silent" and len(queue) == 3:
        continue
    answer = call(asked["call"], asked["args"], asked.get("process"))
    if mistake == "text" and len(queue) == 3:
        answer = {"outcome": "Nonsense"}
    if mistake == "told-other":
        answer["state"] = {"queu": []}
    elif mistake.startswith("told"):
        answer["state"] = {"queue": queue[:2] if mistake == "told-short" else queue}
    print(json.dumps(answer), flush=True)
