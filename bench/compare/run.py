"""Runs the comparison: every method on every set for every seed, each in a process of its own.

    python bench/compare/run.py --gatewood target/release/gatewood --data DIR [SET…]

Results are lines of JSON in OUT/results.jsonl; a job that has its line there is not run again, so a run that was
stopped goes on where it was. Jobs run side by side on disjoint cores, Gatewood's among the rivals'.
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import platform
import random
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import job  # noqa: E402
import rivals  # noqa: E402
import sets  # noqa: E402



def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", metavar="SET", help="a set, or pmlb, pmlb-small, images, pairs, tables, all [default: all]")
    parser.add_argument("--gatewood", required=True, help="the command")
    parser.add_argument("--data", "--data-dir", default=os.environ.get("GATEWOOD_DATA"), help="folder of the sets")
    parser.add_argument("--seeds", type=int, help="seeds a set [default: 5, for PMLB 3]")
    parser.add_argument("--small-seeds", type=int, metavar="N",
                        help=f"seeds of PMLB's sets of fewer than {sets.FEW_ROWS:,} rows [default: as the others]")
    parser.add_argument("--threads", type=int, default=2, help="threads of a job [default: 2]")
    parser.add_argument("--jobs", type=int, help="jobs at a time [default: cores over threads]")
    parser.add_argument("--rivals", default=",".join(rivals.FAMILIES), help="a comma between them; none for none")
    parser.add_argument("--manner", help="only defaults or only search, for PMLB")
    parser.add_argument("--no-gatewood", action="store_true", help="rivals alone")
    parser.add_argument("--also", action="append", default=[], metavar="NAME=ARGUMENTS",
                        help="Gatewood once more with these arguments, as gatewood-NAME")
    parser.add_argument("--out", default="target/compare", help="folder of the results")
    parser.add_argument("--cache", help="folder of rows made ready [default: OUT/rows]")
    parser.add_argument("--time-limit", type=float, default=900, help="seconds of a job [default: 900]")
    parser.add_argument("--search-seconds", type=float, default=120, help="after this no further setting is tried")
    parser.add_argument("--network-seconds", type=float, default=600,
                        help="seconds of the processor that the rival `convolutional` has, where it is asked for [default: 600]")
    parser.add_argument("--stop-after", type=float, help="seconds of the whole run; what has not ended is not counted")
    parser.add_argument("--start", choices=["forkserver", "spawn"], default="forkserver",
                        help="how a job's process comes about; spawn loads all libraries for each")
    parser.add_argument("--commit", help="the commit the command was built from [default: asked of git]")
    parser.add_argument("--redo", default="", metavar="METHODS", help="run these again; the report takes the last line")
    parser.add_argument("--again", action="store_true", help="also run jobs that failed or ran out of time before")
    args = parser.parse_args()
    if not args.data:
        parser.error("say with --data or $GATEWOOD_DATA where the sets are")
    return args


def machine():
    """The processor, its cores and the system."""
    name = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo") as file:
            name = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), name)
    except OSError:
        pass
    return f"{name}, {len(os.sched_getaffinity(0))} cores, {platform.system()}"


def commit():
    asked = subprocess.run(["git", "-C", str(HERE), "describe", "--always", "--dirty", "--abbrev=10"],
                           capture_output=True, text=True)
    return asked.stdout.strip() or "unknown"


def tasks(args):
    """All jobs, those of long sets first; the methods of a set and seed stand together in a drawn order."""
    families = [family for family in args.rivals.split(",") if family not in ("", "none")]
    all_families = [*rivals.FAMILIES, *rivals.ASKED]
    unknown = set(families) - set(all_families)
    if unknown:
        raise SystemExit(f"no rival is called {', '.join(unknown)}; these are: {', '.join(all_families)}")
    variants = {} if args.no_gatewood else {"gatewood": []}
    for variant in args.also:
        name, _, words = variant.partition("=")
        variants[f"gatewood-{name}"] = words.split()
    found = []
    for dataset in sorted(sets.chosen(args.sets), key=lambda dataset: -dataset.cost):
        seeds = args.small_seeds if 0 < dataset.rows < sets.FEW_ROWS else None
        for seed in range(seeds or args.seeds or (3 if dataset.size == "small" else 5)):
            names = [*variants, *rivals.methods(dataset, families)]
            if args.manner:
                other = {"defaults": "-search", "search": "-defaults"}[args.manner]
                names = [name for name in names if not name.endswith(other)]
            random.Random(f"{dataset.name} {seed}").shuffle(names)
            found += [{"set": dataset.name, "method": name, "seed": seed, "arguments": variants.get(name, [])}
                      for name in names]
    return found


class Slot:
    """Cores on which one job runs at a time, forked from a process that has the libraries loaded."""

    def __init__(self, processes, cores, folder):
        self.processes, self.cores, self.folder = processes, cores, pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def start(self, task, args, common):
        self.task = {**task, **common, "cores": self.cores, "threads": args.threads}
        for name in ("result.json", "errors.txt"):
            (self.folder / name).unlink(missing_ok=True)
        self.started = time.monotonic()
        self.process = self.processes.Process(target=job.main, args=(self.task, str(self.folder)))
        self.process.start()

    def poll(self, limit):
        """The result as a dictionary when the job has ended or run out of time, else None."""
        named = {key: self.task[key] for key in ("set", "method", "seed", "threads")}
        if self.process.exitcode is None:
            if time.monotonic() - self.started < limit:
                return None
            self.stop()
            return {**named, "failed": f"did not end within {limit:.0f} s"}
        if (self.folder / "result.json").exists():
            return json.loads((self.folder / "result.json").read_text())
        errors = self.folder / "errors.txt"
        lines = errors.read_text(errors="replace").strip().split("\n") if errors.exists() else [""]
        return {**named, "failed": lines[-1][:500] or f"ended with {self.process.exitcode}"}

    def stop(self):
        """Ends the job and what it started."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            self.process.kill()
        self.process.join()


def work(found, slots, args, common, done, deadline):
    """Runs tasks on the slots; calls `done` with each result. Says how many were not run to their end."""
    waiting = list(found)
    free, busy = list(slots), []
    while waiting or busy:
        if time.monotonic() > deadline:
            for slot in busy:
                slot.stop()
            return len(waiting) + len(busy)
        while waiting and free:
            slot = free.pop(0)
            slot.start(waiting.pop(0), args, common)
            busy.append(slot)
        for slot in list(busy):
            result = slot.poll(args.time_limit)
            if result is not None:
                busy.remove(slot)
                free.append(slot)
                done(result)
        time.sleep(0.02)
    return 0


def main():
    args = arguments()
    out = pathlib.Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    results = out / "results.jsonl"
    version = subprocess.run([args.gatewood, "--version"], capture_output=True, text=True, check=True).stdout
    stamp = {"commit": args.commit or commit(), "machine": machine()}
    common = {
        "gatewood": str(pathlib.Path(args.gatewood).resolve()), "gatewood_version": version.split()[-1],
        "data": str(pathlib.Path(args.data).resolve()),
        "cache": str(pathlib.Path(args.cache or out / "rows").resolve()),
        "search_seconds": args.search_seconds,
        "network_seconds": args.network_seconds,
    }
    known = set()
    if results.exists():
        for line in results.read_text().splitlines():
            result = json.loads(line)
            if not (args.again and "failed" in result or result["method"] in args.redo.split(",")):
                known.add((result["set"], result["method"], result["seed"], result["threads"]))
    found = [task for task in tasks(args) if (task["set"], task["method"], task["seed"], args.threads) not in known]
    cores = sorted(os.sched_getaffinity(0))
    jobs = args.jobs or max(1, len(cores) // args.threads)
    pinned = jobs * args.threads <= len(cores)
    for name in ("OMP", "OPENBLAS", "MKL"):
        os.environ[f"{name}_NUM_THREADS"] = str(args.threads)
    # The process that jobs are forked from looks for what it is to load beforehand where this says, and nowhere else.
    os.environ["PYTHONPATH"] = os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    processes = multiprocessing.get_context(args.start)
    processes.set_forkserver_preload(["preload"])
    slots = [Slot(processes, cores[i * args.threads:(i + 1) * args.threads] if pinned else [], out / "slots" / str(i))
             for i in range(jobs)]
    stamp |= {"jobs_at_a_time": jobs, "load_before": round(os.getloadavg()[0], 1)}
    begun = time.monotonic()
    deadline = begun + args.stop_after if args.stop_after else float("inf")
    needed = {(task["set"], 0 if sets.BY_NAME[task["set"]].own_split else task["seed"]): None for task in found}
    failures = []
    ready = [{"set": name, "method": "prepare", "seed": seed, "arguments": []} for name, seed in needed]
    work(ready, slots, args, common, lambda result: failures.append(result) if "failed" in result else None, deadline)
    for failure in failures:
        print(f"{failure['set']} cannot be made ready: {failure['failed']}", flush=True)
    broken = {failure["set"] for failure in failures}
    found = [task for task in found if task["set"] not in broken]
    print(f"{len(found)} jobs, {len(known)} known, {jobs} at a time of {args.threads} threads; rows made ready in "
          f"{time.monotonic() - begun:.0f} s", flush=True)
    count = 0
    with open(results, "a") as file:
        def done(result):
            nonlocal count
            count += 1
            file.write(json.dumps({**result, **stamp}) + "\n")
            file.flush()
            what = result.get("failed") or result.get("skipped")
            what = what or f"error {result['error']:.4%}, {result['train_seconds']:.2f} s"
            print(f"[{time.monotonic() - begun:5.0f} s, {count}/{len(found)}] {result['set']} {result['method']} "
                  f"{result['seed']}: {what}", flush=True)
        left = work(found, slots, args, common, done, deadline)
    if left:
        print(f"stopped: {left} jobs left; the same command goes on with them", flush=True)
    return 1 if left or failures else 0


if __name__ == "__main__":
    sys.exit(main())
