"""Reading and encoding a file of rows, beside `pandas.read_csv` alone: seconds and peak memory, in turn.

    cargo build --release -p gatewood-data --example encode_time
    python bench/encode.py covtype.csv [rounds]

Needs pandas. Prints one JSON object: the fastest round of each, all rounds with their seconds of processor time, and
whether both targets hold (twice as fast as pandas; peak memory under 1.5 times the encoded bits plus 100 MB).
"""

import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys

PANDAS = """
import json, resource, sys, time
import pandas
start, used = time.perf_counter(), time.process_time()
frame = pandas.read_csv(sys.argv[1], header=None if sys.argv[2] == "none" else 0)
seconds, used = time.perf_counter() - start, time.process_time() - used
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
print(json.dumps({"rows": len(frame), "seconds": round(seconds, 3), "cpu_seconds": round(used, 3), "peak_mb": round(peak, 1)}))
"""


def run(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    # Starting Python and pandas is no part of reading; starting ours takes next to nothing.
    return {"cpu_seconds": round(used, 3)} | result


def median(results):
    return statistics.median(result["seconds"] for result in results)


def main():
    file = sys.argv[1]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    root = pathlib.Path(__file__).resolve().parent.parent
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", root / "target"))
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(run([target / "release" / "examples" / "encode_time", file]))
        header = "none" if ours[-1]["header"] is False else "first"
        theirs.append(run([sys.executable, "-c", PANDAS, file, header]))
    assert ours[0]["rows"] == theirs[0]["rows"], "both read the same rows"
    best = min(ours, key=lambda result: result["seconds"])
    pandas = min(theirs, key=lambda result: result["seconds"])
    limit = 1.5 * best["bit_mb"] + 100
    print(json.dumps({
        "gatewood": best,
        "pandas": pandas,
        "times_as_fast": round(pandas["seconds"] / best["seconds"], 2),
        "times_as_fast_median": round(median(theirs) / median(ours), 2),
        "memory_limit_mb": round(limit, 1),
        "fast_enough": pandas["seconds"] >= 2 * best["seconds"],
        "small_enough": max(result["peak_mb"] for result in ours) <= limit,
        "rounds": {"gatewood": ours, "pandas": theirs},
    }, indent=2))


if __name__ == "__main__":
    main()
