"""Regression with disguised outcomes and covariates.

>>> import tacit
>>> people = {"copied": ["yes"] * 45 + ["no"] * 55 + ["yes"] * 25 + ["no"] * 75, "sex": [0] * 100 + [1] * 100}
>>> found = tacit.regress(people, "copied ~ sex", devices={"copied": "unrelated-question p=1/2,y=1/12"})
>>> [coefficient.term for coefficient in found.coefficients]
['Intercept', 'sex']
"""

from __future__ import annotations

from tacit.regression.model import regress
from tacit.regression.result import Coefficient, LikelihoodRatio, Prediction, Regression

__all__ = ["Coefficient", "LikelihoodRatio", "Prediction", "Regression", "regress"]
