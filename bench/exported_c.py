"""Exported C on one core, beside the library that exported it and LightGBM compiled by tl2cgen: rows a second.

    cargo build --release -p gatewood-cli
    python bench/exported_c.py              # writes bench/exported_c.md

Needs lightgbm, treelite, tl2cgen, numpy and a C compiler. The library is timed by `gatewood bench`. The rows
are those of mnist35, which ships in the command: 784 bits, two classes. All compile with -O3 -march=native; each figure is the best of several runs.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile
import time

import lightgbm
import numpy
import tl2cgen
import treelite

HERE = pathlib.Path(__file__).parent
FLAGS = ["-O3", "-march=native"]
ROUNDS = 15

TIMING = r"""
#include "model.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BLOCKS 32
static uint64_t words[BLOCKS][4 * MODEL_COLUMNS], rows[BLOCKS * 64][MODEL_WORDS], outputs[4 * MODEL_OUTPUTS];
static double raw[BLOCKS * 64][MODEL_NUMBERS];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#define MEASURE(what, count, code) do { \
        double best = 1e9; \
        for (int round = 0; round < ROUNDS; round++) { \
            double start = now(); \
            for (unsigned i = 0; i < (count); i++) { code; } \
            double took = now() - start; \
            if (took < best) best = took; \
        } \
        printf("\"%s\": %.0f,\n", what, per / best); \
    } while (0)

int main(void)
{
    uint64_t sum = 0;
    double per;
    for (unsigned b = 0; b < BLOCKS; b++)
        for (unsigned i = 0; i < 4 * MODEL_COLUMNS; i++)
            words[b][i] = ((uint64_t)rand() << 42) ^ ((uint64_t)rand() << 21) ^ (uint64_t)rand();
    for (unsigned r = 0; r < BLOCKS * 64; r++) {
        for (unsigned i = 0; i < MODEL_WORDS; i++)
            rows[r][i] = ((uint64_t)rand() << 42) ^ ((uint64_t)rand() << 21) ^ (uint64_t)rand();
        for (unsigned i = 0; i < MODEL_NUMBERS; i++)
            raw[r][i] = rand() & 1;
    }
    printf("{\n");
    per = BLOCKS * 256.0;
    MEASURE("256 rows at once", BLOCKS, model_256(words[i], outputs); sum += outputs[0]);
    per = BLOCKS * 64.0;
    MEASURE("64 rows at once", BLOCKS, model_64(words[i], outputs); sum += outputs[0]);
    MEASURE("one row of bits", BLOCKS * 64, sum += model_row(rows[i]));
    MEASURE("one row of numbers", BLOCKS * 64, sum += model_raw(raw[i]));
    printf("\"sum\": %llu\n}\n", (unsigned long long)(sum & 1));
}
"""


def run(*command, **more):
    """Runs a command; gives what it printed."""
    result = subprocess.run(command, capture_output=True, text=True, **more)
    if result.returncode:
        raise SystemExit(f"{command}: {result.stderr}")
    return result.stdout


def ours(binary, folder, words):
    """Learns a grove; its error, the library's rows a second, and those of its C."""
    trained = json.loads(run(binary, "train", "mnist35", "--patterns", "0", "-o", "model.gw", "--json", *words.split(), cwd=folder))
    run(binary, "export", "model.gw", "--with-encoder", "-o", "model.c", cwd=folder)
    (folder / "time.c").write_text(TIMING.replace("ROUNDS", str(ROUNDS)))
    start = time.perf_counter()
    run("cc", *FLAGS, "-c", "model.c", cwd=folder)
    compiling = time.perf_counter() - start
    run("cc", *FLAGS, "-o", "time", "time.c", "model.o", cwd=folder)
    speeds = {"library, packed rows, one thread": library_rows(binary, folder / "model.gw")}
    speeds |= json.loads(run("./time", cwd=folder))
    del speeds["sum"]
    said = f"{trained['gates']:,} gates, error {100 * trained['test_error']:.2f} %, C compiled in {compiling:.1f} s"
    return said, speeds


def library_rows(binary, path):
    """Rows a second of the library on one thread, from packed rows to classes."""
    return json.loads(run(binary, "bench", path, "--json"))["packed_rows_per_second"]["1"]


def lightgbm_rows(folder, binary, trees):
    """Learns with LightGBM and compiles it; its error and rows a second."""
    parts = []
    for name, more in [("train", []), ("test", ["--test"])]:
        run(binary, "data", "make", "mnist35", "-o", f"{name}.csv", *more, cwd=folder)
        table = numpy.loadtxt(folder / f"{name}.csv", delimiter=",", skiprows=1, dtype=numpy.float32)
        labels = table[:, -1]
        parts.append((numpy.ascontiguousarray(table[:, :-1]), (labels == labels.max()).astype(int)))
    (rows, labels), (test, wanted) = parts
    model = lightgbm.LGBMClassifier(n_estimators=trees, n_jobs=1, verbose=-1).fit(rows, labels)
    error = 100 * numpy.mean(model.predict(test) != wanted)
    model.booster_.save_model(folder / "model.txt")
    start = time.perf_counter()
    library = folder / f"lightgbm_{trees}.so"
    tl2cgen.export_lib(
        treelite.frontend.load_lightgbm_model(folder / "model.txt"),
        toolchain="gcc", libpath=library, params={"parallel_comp": 4}, options=["-march=native"],
    )
    compiling = time.perf_counter() - start
    predictor = tl2cgen.Predictor(library, nthread=1)
    batch = tl2cgen.DMatrix(test, dtype="float32")
    said = predictor.predict(batch).reshape(len(test), -1)[:, -1]
    differs = numpy.sum((said > 0.5) != (model.predict_proba(test)[:, 1] > 0.5))
    best = min(timed(lambda: predictor.predict(batch)) for _ in range(ROUNDS))
    said = f"{trees} trees of 31 leaves, error {error:.2f} %, C compiled in {compiling:.0f} s"
    said += f", {differs} of {len(test):,} rows differ from LightGBM" if differs else ""
    return said, {"tl2cgen, one thread": len(test) / best}


def timed(action):
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=pathlib.Path, default="target/release/gatewood", help="the command")
    parser.add_argument("--output", type=pathlib.Path, default=HERE / "exported_c.md", help="where the table goes")
    arguments = parser.parse_args()
    binary = str(arguments.binary.resolve())
    lines = [
        "# Exported C, one core",
        "",
        "Made by `python bench/exported_c.py`. Rows of mnist35, 784 bits, two classes, groves without patterns; rows a second, the best of "
        f"{ROUNDS} runs.",
        "",
        "| model | what runs | million rows/s |",
        "|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        kinds = [("defaults", ""), ("`--rounds 30`", "--rounds 30"), ("`--spans 0`", "--spans 0")]
        found = [(f"Gatewood, {name}", *ours(binary, folder, words)) for name, words in kinds]
        found += [("LightGBM", *lightgbm_rows(folder, binary, trees)) for trees in (100, 300)]
    for model, said, speeds in found:
        lines += [f"| {model}: {said} | {what} | {speed / 1e6:.2f} |" for what, speed in speeds.items()]
    text = "\n".join(lines) + "\n"
    print(text)
    arguments.output.write_text(text)


if __name__ == "__main__":
    main()
