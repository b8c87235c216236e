"""Writes quantiles.csv: theta = F^-1(Phi(z)), its distance to the upper bound, and log dtheta/dz, for the prior families.

Recipe: python make_quantiles.py > quantiles.csv (mpmath 1.3, 60 digits). Each quantile is a root, found by bisection and
then by the secant method, of log(tail(theta)/tail(z)) for the smaller tail; nothing is rounded before the last step.
The z of 1e-12 is -7.0344838...: Phi(-7.034483825301131) = 1e-12.
"""
from mpmath import mp, mpf, erfc, sqrt, log, exp, gammainc, betainc, pi, tan, beta as beta_function, gamma as gamma_function, findroot

mp.dps = 60
Z = ["-8", "-7.034483825301131", "-5", "-3", "-1", "-0.125", "0", "0.125", "1", "3", "5", "7.034483825301131", "8"]


def lower(z):
    return erfc(-z / sqrt(2)) / 2


def log_phi(z):
    return -z * z / 2 - log(2 * pi) / 2


def solve(tail, target, lo, hi):
    """Root of log(tail(exp(t))/target) between logarithms lo and hi (tail monotone)."""
    f = lambda t: log(tail(exp(t)) / target)
    flo = f(lo)
    for _ in range(60):
        mid = (lo + hi) / 2
        if (f(mid) > 0) == (flo > 0):
            lo = mid
        else:
            hi = mid
    return exp(findroot(f, ((lo + hi) / 2, (lo + hi) / 2 + mpf(10) ** -19), solver="secant", tol=mpf(10) ** -50))


def gamma_row(a, z):
    P = lambda x: gammainc(a, 0, x, regularized=True)
    Q = lambda x: gammainc(a, x, mp.inf, regularized=True)
    x = solve(P, lower(z), mpf(-3600), log(a + 200 * (1 + sqrt(a)))) if z <= 0 else solve(Q, lower(-z), mpf(-200), log(a + 200 * (1 + sqrt(a))))
    return x, mp.inf, log_phi(z) - ((a - 1) * log(x) - x - log(gamma_function(a)))


def beta_row(a, b, z):
    # in odds o = x/y, so that both ends keep their digits
    P = lambda o: betainc(a, b, 0, o / (1 + o), regularized=True)
    Q = lambda o: betainc(b, a, 0, 1 / (1 + o), regularized=True)
    o = solve(P, lower(z), mpf(-1500), mpf(1500)) if z <= 0 else solve(Q, lower(-z), mpf(-1500), mpf(1500))
    x, y = o / (1 + o), 1 / (1 + o)
    return x, y, log_phi(z) - ((a - 1) * log(x) + (b - 1) * log(y) - log(beta_function(a, b)))


def truncated_row(mu, sd, low, high, z):
    mass = lower((high - mu) / sd) - lower((low - mu) / sd)
    below = lambda h: lower((low + h - mu) / sd) - lower((low - mu) / sd)
    above = lambda h: lower((high - mu) / sd) - lower((high - h - mu) / sd)
    if z <= 0 or high == mp.inf:
        if z <= 0:
            theta = low + solve(below, lower(z) * mass, mpf(-80), log(40 * sd))
        else:
            Q = lambda h: lower(-(low + h - mu) / sd)
            theta = low + solve(Q, lower(-z) * mass, mpf(-80), log(40 * sd))
        gap = high - theta
    else:
        gap = solve(above, lower(-z) * mass, mpf(-80), log(high - low))
        theta = high - gap
    return theta, gap, log_phi(z) - (log_phi((theta - mu) / sd) - log(sd) - log(mass))


def folded(z):
    """P(|Z| < |z|), P(|Z| > |z|) of a standard normal."""
    return lower(abs(z)) - lower(-abs(z)), 2 * lower(-abs(z))


def symmetric_row(location, scale, z, point, log_density):
    """location +- scale * point(P(|X| < x), P(|X| > x)) with the density of the standard law at x >= 0."""
    x = point(*folded(z))
    return location + (1 if z >= 0 else -1) * scale * x, mp.inf, log_phi(z) - log_density(x) + log(scale)


def student_point(df):
    # in odds o = w/(1 - w) of w = df/(df + x^2), so that both ends keep their digits
    def point(inner, outer):
        if inner == 0:
            return mpf(0)
        P = lambda o: betainc(df / 2, mpf(1) / 2, 0, o / (1 + o), regularized=True)
        Q = lambda o: betainc(mpf(1) / 2, df / 2, 0, 1 / (1 + o), regularized=True)
        o = solve(P, outer, mpf(-200), mpf(200)) if outer < inner else solve(Q, inner, mpf(-200), mpf(200))
        return sqrt(df / o)

    return point


def student_log_density(df):
    constant = log(gamma_function((df + 1) / 2)) - log(gamma_function(df / 2)) - log(df * pi) / 2
    return lambda x: constant - (df + 1) / 2 * log(1 + x * x / df)


def inverse_gamma_row(a, scale, z):
    x, _, slope = gamma_row(a, -z)  # theta = scale/x: |dtheta/dz| = scale/x^2 |dx/dz|
    return scale / x, mp.inf, slope + log(scale) - 2 * log(x)


def show(family, settings, z, row):
    theta, gap, slope = row
    gap = "inf" if gap == mp.inf else mp.nstr(gap, 20)
    print(",".join([family, settings, z, mp.nstr(theta, 20), gap, mp.nstr(slope, 20)]))


print("family,settings,z,theta,below_high,log_slope")
for z in Z:
    p, q = lower(mpf(z)), lower(-mpf(z))
    show("uniform", "low=1;high=3", z, (1 + 2 * p, 2 * q, log(2) + log_phi(mpf(z))))
    show("uniform", "low=0;high=1", z, (p, q, log_phi(mpf(z))))
    show("log_normal", "log_mean=0.5;log_sd=0.75", z, (exp(mpf("0.5") + mpf("0.75") * mpf(z)), mp.inf, log(mpf("0.75")) + mpf("0.5") + mpf("0.75") * mpf(z)))
    for location, scale in [("0", "1"), ("-0.5", "1.5")]:
        odds = exp(mpf(location) + mpf(scale) * mpf(z))
        show("logit_normal", f"location={location};scale={scale};low=1;high=3", z, (1 + 2 * odds / (1 + odds), 2 / (1 + odds), log(2 * mpf(scale) * odds / (1 + odds) ** 2)))
    show("exponential", "rate=3", z, (-log(q) / 3, mp.inf, log_phi(mpf(z)) - log(3) - log(q)))
    for a in ["0.05", "0.25", "1", "2.5", "9.5", "40", "1000", "100000"]:
        show("gamma", f"shape={a};scale=1", z, gamma_row(mpf(a), mpf(z)))
    for a, b in [("0.5", "0.5"), ("2", "5"), ("30", "3"), ("0.75", "40"), ("60", "80"), ("0.05", "3"), ("5", "20000")]:
        show("beta", f"a={a};b={b}", z, beta_row(mpf(a), mpf(b), mpf(z)))
    show("half_normal", "sd=2", z, truncated_row(mpf(0), mpf(2), mpf(0), mp.inf, mpf(z)))
    show("truncated_normal", "mean=1;sd=2;low=0;high=2.5", z, truncated_row(mpf(1), mpf(2), mpf(0), mpf("2.5"), mpf(z)))
    show("truncated_normal", "mean=0;sd=1;low=4;high=9", z, truncated_row(mpf(0), mpf(1), mpf(4), mpf(9), mpf(z)))
    show("truncated_normal", "mean=0;sd=1;low=-7;high=-6.5", z, truncated_row(mpf(0), mpf(1), mpf(-7), mpf("-6.5"), mpf(z)))

for z in Z:
    p, q, at = lower(mpf(z)), lower(-mpf(z)), mpf(z)
    half_pi = pi / 2
    show("cauchy", "location=1;scale=0.5", z, symmetric_row(1, mpf("0.5"), at, lambda i, o: tan(half_pi * i), lambda x: -log(pi * (1 + x * x))))
    show("half_cauchy", "scale=2", z, (2 * tan(half_pi * p), mp.inf, log_phi(at) + log(pi) + log(1 + tan(half_pi * p) ** 2)))
    show("laplace", "location=-1;scale=2", z, symmetric_row(-1, mpf(2), at, lambda i, o: -log(o), lambda x: -log(2) - x))
    show("logistic", "location=2;scale=0.5", z, symmetric_row(2, mpf("0.5"), at, lambda i, o: log(1 + i) - log(o), lambda x: -x - 2 * log(1 + exp(-x))))
    for df in ["1.5", "4", "30"]:
        show("student_t", f"df={df};location=0;scale=2", z, symmetric_row(0, mpf(2), at, student_point(mpf(df)), student_log_density(mpf(df))))
    for a in ["0.5", "3", "50"]:
        show("inverse_gamma", f"shape={a};scale=2", z, inverse_gamma_row(mpf(a), mpf(2), at))
    width = log(mpf(1000))
    theta = mpf("0.01") * exp(width * p)
    show("log_uniform", "low=0.01;high=10", z, (theta, 10 - theta, log_phi(at) + log(theta) + log(width)))
    power = -log(q)
    for k in ["0.7", "1.5", "20"]:
        theta = 2 * power ** (1 / mpf(k))
        show("weibull", f"shape={k};scale=2", z, (theta, mp.inf, log_phi(at) - (log(mpf(k) / 2) + (mpf(k) - 1) * log(theta / 2) - power)))
