"""Writes internal/mindforge/stat/testdata/mean.json: means with cluster-robust intervals as
statsmodels and scipy have them.

    pip install statsmodels scipy
    python test/bench/stats/mean.py > internal/mindforge/stat/testdata/mean.json
"""
import json
import random

import numpy as np
import scipy.stats
import statsmodels.api as sm

draw = random.Random(7)
cases = []
for clusters, size, spread in [(2, 5, 0.1), (3, 1, 0.3), (12, 25, 0.0), (12, 25, 0.3), (14, 4, 0.2), (40, 3, 0.1)]:
    y, g = [], []
    for c in range(clusters):
        p = min(0.95, max(0.05, draw.gauss(0.5, spread)))
        for _ in range(size + c % 3):  # clusters of unequal size
            y.append(float(draw.random() < p))
            g.append(c)
    fit = sm.OLS(np.array(y), np.ones(len(y))).fit(
        cov_type="cluster", cov_kwds={"groups": np.array(g), "df_correction": True}, use_t=True)
    low, high = fit.conf_int(0.05)[0]
    cases.append({"y": y, "cluster": [f"c{i}" for i in g], "mean": fit.params[0], "se": fit.bse[0], "low": low, "high": high})
print(json.dumps({
    "intervals": cases,
    "t": [[df, scipy.stats.t.ppf(0.975, df)] for df in (1, 2, 3, 5, 11, 13, 30, 200, 2000)],
    "zero_of": [[n, scipy.stats.binomtest(0, n).proportion_ci(0.95, "exact").high] for n in (2, 5, 12, 14)],
}))
