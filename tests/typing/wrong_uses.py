"""Wrong uses of public names: mypy must refuse every line below the imports (`test_wrong_uses.py` counts them)."""

import tacit
from tacit import Reports, Scheme, channels, design_front, estimate
from tacit.estimation import TableEstimate

reports = Reports.from_truth({"smokes": ["no", "yes"]})
scheme = Scheme.read("scheme.json")

tacit.nosuch(3)
tacit.channels.nosuch(3)
tacit.channels.warner(nonsense=1)
tacit.channels.warner("often")
channels.gamma_diagonal()
channels.subset(2, gamma="much")
channels.cut_and_paste(K=3)
channels.mask(0.9).built((2,))
tacit.mine.nosuch()
tacit.measures.nosuch()
tacit.devices.nosuch(0.7)
tacit.estimate(reports, 5)
tacit.estimate(reports, ["smokes"], method="guess")
tacit.estimate(reports, {"smokes": "yes"}, method="likelihood")
tacit.estimate(reports, {"smokes": 1})
tacit.estimate(reports, ["smokes"]).probability()
tacit.estimate(reports, {"smokes": "yes"}).probabilities()
shares: TableEstimate = estimate(reports, [{"smokes": "yes"}])
tables: TableEstimate = estimate(reports, [["smokes"], ["smokes", "age"]])
tacit.disguise(scheme)
tacit.regress("study.csv")
tacit.regress("study.csv", "y ~ x", family="cubic")
tacit.anonymize({"age": ["31"]}, k="two")
tacit.TreeClassifier(target=1)
tacit.measure(reports)
tacit.plan()
design_front([0.5, 0.5], method="magic")
tacit.Effort(seed=1)
