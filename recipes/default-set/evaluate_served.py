"""Routing accuracy of what is served: int8 activations, constrained choice, by the API of a running Macaron.

python evaluate_served.py --url http://127.0.0.1:8080 --split test/routing.jsonl [--json OUT] [--markdown OUT]

Needs the standard library only. The split's ids hold the label, so only text and previous turn are sent.
"""
import argparse
import json
import pathlib
import sys
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]

import metrics  # noqa: E402


def route(url, row):
    ask = {"text": row["text"]}
    if row.get("previous"):
        ask["previous"] = row["previous"]
    request = urllib.request.Request(url + "/admin/route", json.dumps(ask).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--url", default="http://127.0.0.1:8080")
    a.add_argument("--split", required=True)
    a.add_argument("--json")
    a.add_argument("--markdown")
    o = a.parse_args()
    rows = [json.loads(line) for line in open(o.split, encoding="utf-8") if line.strip()]
    for row in rows:
        got = route(o.url, row)
        if got["reason"] != "model":
            sys.exit(f"{row['id']}: the router did not decide ({got['reason']}): {got.get('cause', '')}")
        row["probabilities"], row["predicted"] = got["probabilities"], got["adapter"]
        row["hit"] = row["predicted"] == row["label"]
    report = metrics.report(rows, sorted({r["label"] for r in rows}))
    report["contract"] = got["contract"]
    text = metrics.markdown(report, "Served engine: " + pathlib.Path(o.split).name)
    print(text)
    if o.json:
        pathlib.Path(o.json).write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    if o.markdown:
        pathlib.Path(o.markdown).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
