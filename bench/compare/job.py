"""One job of the comparison: one method, one set, one seed, in a process of its own.

Writes one JSON object: error and log loss on the test rows, seconds of training and of predicting, bytes of the model as saved.
Times go from raw rows in memory to a model, and from raw rows in memory to classes; reading files is in nobody's time.
"""

import json
import os
import pathlib
import platform
import resource
import subprocess
import tempfile
import time
import warnings

import numpy
import pandas

import rivals
import sets


def main(task, folder):
    """Does a task; what comes of it goes to `result.json` in the folder, complaints to `errors.txt`."""
    os.setsid()  # so that the job can be ended with all that it started
    folder = pathlib.Path(folder)
    errors = os.open(folder / "errors.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(errors, 1)
    os.dup2(errors, 2)
    if task["cores"]:
        os.sched_setaffinity(0, task["cores"])
    warnings.filterwarnings("ignore")
    partial = folder / "partial.json"
    partial.write_text(json.dumps(outcome(task)))
    partial.rename(folder / "result.json")


def outcome(task):
    dataset = sets.BY_NAME[task["set"]]
    rows = sets.prepare(dataset, task["seed"], task["data"], task["cache"])
    result = {key: task[key] for key in ("set", "method", "seed", "threads")}
    if task["method"] == "prepare":
        return result
    split = sets.load(rows)
    result |= {"train_rows": len(split.train_y), "test_rows": len(split.test_y), "python": platform.python_version()}
    run = run_gatewood if task["method"].startswith("gatewood") else run_rival
    return result | run(task, dataset, split)


def run_gatewood(task, dataset, split):
    """Trains with the command and its defaults; the error is counted here, from the classes the command predicts."""
    command = task["gatewood"]
    threads = ["--threads", str(task["threads"])]
    source = ["--data-dir", task["data"]] if dataset.named else ["--label=-1", "--header", "yes"]

    def run(*arguments):
        done = subprocess.run([command, *arguments, *threads, *source], capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(done.stderr.strip() or f"the command ended with {done.returncode}")
        return done.stdout

    with tempfile.TemporaryDirectory() as folder:
        model = str(pathlib.Path(folder) / "model.gw")
        classes = str(pathlib.Path(folder) / "classes.csv")
        begun = resource.getrusage(resource.RUSAGE_CHILDREN)
        trained = json.loads(run("train", split.command_train, "-o", model, "--json", "--seed", str(task["seed"]),
                                 *task["arguments"]))
        command_seconds = processor_seconds(resource.getrusage(resource.RUSAGE_CHILDREN), begun)
        tested = json.loads(run("eval", model, split.command_test, "--json"))
        run("predict", model, split.command_test, "-o", classes)
        size = os.path.getsize(model)
        predicted = pandas.read_csv(classes, dtype=str, keep_default_na=False)["class"]
    if len(predicted) != len(split.test_y) or trained["train_rows"] != len(split.train_y):
        raise SystemExit("the command read other rows than the rivals were given")
    names = numpy.array(split.classes)
    error = float((predicted.to_numpy().astype(str) != names[split.test_y]).mean())
    if abs(error - tested["error"]) > 1e-9:
        raise SystemExit(f"eval counts an error of {tested['error']}, but the classes predicted have {error}")
    # Of encoding and learning, as the rivals' is of their fit, where the system tells; that of the whole command has reading the file
    # in it.
    processor = {"train_cpu_seconds": command_seconds}
    if trained.get("train_cpu_seconds") is not None:
        processor = {"train_cpu_seconds": trained["train_cpu_seconds"], "command_cpu_seconds": command_seconds}
    return {
        "error": error,
        "log_loss": tested.get("log_loss"),
        "train_seconds": trained["encode_seconds"] + trained["train_seconds"],
        **processor,
        "encode_seconds": trained["encode_seconds"],
        "predict_seconds": tested["predict_seconds"],
        "model_bytes": size,
        "settings": {"arguments": task["arguments"], **trained["settings"]},
        "inputs": trained["inputs"],
        "gates": trained["gates"],
        "version": task["gatewood_version"],
    }


def run_rival(task, dataset, split):
    family = rivals.family_of(task["method"])
    if family == "svm-rbf" and len(split.train_y) > rivals.SVM_ROWS:
        return {"skipped": f"more than {rivals.SVM_ROWS:,} rows to learn from"}
    train, test = columns_in_memory(split)
    rival = rivals.Rival(task["method"], split.kind, dataset.size, task["seed"], task["threads"],
                         task["search_seconds"], task["network_seconds"])
    rivals.version(task["method"])  # imports the library, so that no time has that in it
    rival.build({})
    started, begun = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
    rival.fit(train, split.train_y)
    train_seconds = time.perf_counter() - started
    cpu_seconds = processor_seconds(resource.getrusage(resource.RUSAGE_SELF), begun)
    started = time.perf_counter()
    predicted = rival.predict(test)
    predict_seconds = time.perf_counter() - started
    return {
        "error": float((predicted != split.test_y).mean()),
        "log_loss": log_loss(rival.probabilities(test), split.test_y),
        "train_seconds": train_seconds,
        "train_cpu_seconds": cpu_seconds,
        "predict_seconds": predict_seconds,
        "model_bytes": rival.saved_bytes(),
        "settings": rival.settings,
        "settings_tried": rival.tried,
        "version": rivals.version(task["method"]),
    }


def processor_seconds(now, begun):
    """What all threads took of the processor between two usages."""
    return now.ru_utime + now.ru_stime - begun.ru_utime - begun.ru_stime


def log_loss(probabilities, classes):
    """Mean of minus the logarithm of what the right class is given, as Gatewood counts it; none without probabilities."""
    if probabilities is None:
        return None
    given = probabilities[numpy.arange(len(classes)), classes]
    return float(-numpy.log(numpy.maximum(given, 1e-15)).mean())


def columns_in_memory(split):
    """Raw rows as rivals like them best: numbers in one array, frames with categories, lists of texts."""
    parts = [split.train_x, split.test_x]
    if split.kind == "pixels":
        return [numpy.ascontiguousarray(part, numpy.float32) for part in parts]
    if split.kind == "numbers":
        return [numpy.ascontiguousarray(part.to_numpy(numpy.float64)) for part in parts]
    if split.kind == "mixed":
        parts = [part.reset_index(drop=True) for part in parts]
        for name in parts[0]:
            if not pandas.api.types.is_numeric_dtype(parts[0][name].dtype):
                categories = sorted(parts[0][name].unique())
                for part in parts:
                    values = part[name]
                    part[name] = pandas.Categorical(values.where(values.isin(categories)), categories=categories)
    return parts
