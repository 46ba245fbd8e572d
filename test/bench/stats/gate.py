"""Writes internal/mindforge/stat/testdata/gate.json: the gate's statistics as scipy,
statsmodels and confseq have them, and Tango's interval by maximising the likelihood.

    pip install scipy statsmodels matplotlib multiprocess
    pip download --no-deps --no-binary :all: confseq==0.0.11   # its betting module needs no compiled part
    python test/bench/stats/gate.py CONFSEQ/src > internal/mindforge/stat/testdata/gate.json
"""
import json
import math
import random
import sys
from fractions import Fraction

import numpy as np
import scipy.optimize as optimize
import scipy.stats as st
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

np.float_ = np.float64  # confseq was written before NumPy 2
sys.path.insert(0, sys.argv[1])
from confseq.betting import betting_mart  # noqa: E402

draw = random.Random(11)


def mcnemars():
    out = []
    for wins, losses in [(0, 0), (1, 0), (5, 5), (12, 3), (3, 12), (40, 10), (150, 110), (0, 7), (9, 0)]:
        p = st.binomtest(wins, wins + losses, alternative="greater").pvalue if wins + losses else 1.0
        two = mcnemar([[0, wins], [losses, 0]], exact=True).pvalue if wins > losses else None
        assert two is None or math.isclose(min(1, 2 * p), two, rel_tol=1e-9)
        out.append([wins, losses, p])
    return out


def worlds():
    """Families of items with outcomes of both arms."""
    out = []
    for families, size, gain, spread in [(2, 4, 0.2, 0), (8, 5, 0.1, 0.1), (12, 25, 0.0, 0.2), (13, 3, 0.2, 0.1), (20, 10, 0.15, 0.0), (30, 4, -0.1, 0.1)]:
        pairs = []
        for f in range(families):
            shift = gain + draw.gauss(0, spread)
            for _ in range(size + f % 2):
                a = float(draw.random() < 0.4)
                b = float(draw.random() < min(1, max(0, 0.4 + shift)))
                pairs.append([f"f{f:02d}", a, b])
        out.append(pairs)
    return out


def tests(pairs):
    d = {}
    for f, a, b in pairs:
        d.setdefault(f, []).append(b - a)
    means = np.array([np.mean(v) for _, v in sorted(d.items())])
    exact = None
    if len(means) <= 14:
        exact = st.permutation_test((np.round(means, 12),), np.mean, permutation_type="samples", n_resamples=np.inf, alternative="greater").pvalue
    drawn = st.permutation_test((means,), np.mean, permutation_type="samples", n_resamples=200000, alternative="greater", random_state=1).pvalue
    half = (means + 1) / 2
    grid = [0.125, 0.25, 0.5, 0.75, 0.95]
    bounded = [float(betting_mart(half, 0.5, lambdas_fn_positive=lambda x, m, lam=lam: np.full(len(x), 2 * lam), theta=1, trunc_scale=1)[-1]) for lam in grid]
    # Bets under symmetry have a closed form: the likelihood ratio of two points +-d whose odds are exp(2*lam*d).
    symmetric = [float(np.prod([2 / (1 + math.exp(-2 * lam * x)) for x in means])) for lam in (1.5, 3, 6, 12)]
    return {"pairs": pairs, "flip": exact, "flip_drawn": drawn, "t": float(st.ttest_1samp(means, 0, alternative="greater").pvalue),
            "bounded": bounded, "symmetric": symmetric}


def tango(n, wins, losses, conf=0.95):
    """Inverts the score test, with the nuisance share found by a numeric maximiser."""
    z, rest = st.norm.ppf(0.5 + conf / 2), n - wins - losses

    def score(d):
        def minus(q):  # q: share of losses; wins have q + d
            p = (q + d, q, 1 - 2 * q - d)
            return -sum(k * math.log(max(x, 1e-300)) for k, x in zip((wins, losses, rest), p) if k)

        low, high = max(0.0, -d), (1 - d) / 2
        q = optimize.minimize_scalar(minus, bounds=(low, high), method="bounded", options={"xatol": 1e-14}).x
        v = n * (2 * q + d - d * d)
        return (wins - losses - n * d) / math.sqrt(max(v, 1e-300))

    at = (wins - losses) / n
    low = -1.0 if at <= -1 else optimize.brentq(lambda d: score(d) - z, -1 + 1e-9, at, xtol=1e-12)
    high = 1.0 if at >= 1 else optimize.brentq(lambda d: score(d) + z, at, 1 - 1e-9, xtol=1e-12)
    return [n, wins, losses, conf, low, high]


def pass_at(n, c, k):
    return float(1 - Fraction(math.comb(n - c, k), math.comb(n, k)))


def rate(k, n):
    ci = st.binomtest(k, n).proportion_ci(0.95, "exact")
    return [k, n, ci.low, ci.high]


ps = [[0.001, 0.2, 0.012, 0.03, 0.9, 0.011], [0.04, 0.01, 0.03], [0.5, 0.6]]
curve = [[f"f{i % 9}", 8, draw.randrange(0, 9) if i % 3 else 0] for i in range(60)]


def coverage():
    """Percentile intervals of a bootstrap over families, by NumPy's own generator."""
    rng, out = np.random.default_rng(3), []
    names = sorted({c[0] for c in curve})
    for k in (1, 4, 8):
        by = {f: [pass_at(n, c, k) for g, n, c in curve if g == f] for f in names}
        sums, sizes = np.array([sum(by[f]) for f in names]), np.array([len(by[f]) for f in names])
        at = rng.integers(0, len(names), (200000, len(names)))
        low, high = np.quantile(sums[at].sum(1) / sizes[at].sum(1), [0.025, 0.975])
        out.append([k, float(sums.sum() / sizes.sum()), float(low), float(high)])
    return out


print(json.dumps({
    "mcnemar": mcnemars(),
    "tests": [tests(w) for w in worlds()],
    "tango": [tango(*c) for c in [(50, 12, 4), (200, 40, 10), (100, 5, 5), (30, 1, 8), (40, 3, 1, 0.9)]],
    "pass_at": [[n, c, k, pass_at(n, c, k)] for n, c, k in [(4, 0, 1), (4, 1, 2), (10, 3, 5), (100, 7, 20), (8, 8, 3), (8, 5, 4)]],
    "rate": [rate(*c) for c in [(0, 5), (5, 5), (3, 10), (34, 101), (1, 200)]],
    "holm": [[p, multipletests(p, 0.05, "holm")[0].tolist()] for p in ps],
    "curve": [[c[0], c[1], c[2]] for c in curve], "coverage": coverage(),
}, separators=(",", ":")))
