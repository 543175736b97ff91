"""Imported once by the process that every job is forked from, so that a job does not wait for libraries to load."""

import catboost  # noqa: F401
import lightgbm  # noqa: F401
import numpy  # noqa: F401
import pandas  # noqa: F401
import sklearn.compose  # noqa: F401
import sklearn.ensemble  # noqa: F401
import sklearn.feature_extraction.text  # noqa: F401
import sklearn.model_selection  # noqa: F401
import sklearn.pipeline  # noqa: F401
import sklearn.preprocessing  # noqa: F401
import sklearn.svm  # noqa: F401
import xgboost  # noqa: F401

import rivals  # noqa: F401
import sets  # noqa: F401
