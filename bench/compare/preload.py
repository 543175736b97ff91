"""Imported once by the process that every job is forked from, so that a job does not wait for libraries to load."""

import contextlib
import importlib

# A library that is not there is missed by those jobs alone that need it.
for name in ("catboost", "lightgbm", "numpy", "pandas", "sklearn.compose", "sklearn.ensemble", "sklearn.feature_extraction.text",
             "sklearn.model_selection", "sklearn.pipeline", "sklearn.preprocessing", "sklearn.svm", "xgboost", "rivals", "sets"):
    with contextlib.suppress(ImportError):
        importlib.import_module(name)
