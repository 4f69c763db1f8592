#include "tableau.h"

#define SMALL 1e-9      /* entries that are too small to pivot on */
#define NOISE 1e-14
#define OFF 1e-10       /* what a right-hand side or a reduced cost may be off */
#define MOST 3000       /* pivots of one call */
#define WIDE 8          /* columns come in eights: those beyond the last are 0 */
#define NOWHERE (-(1 << 29))

typedef double four __attribute__((vector_size(32), aligned(8)));

static double *row_of(const Tableau *t, int r) { return t->t + (size)r * t->n_room; }

/* x -= f y */
static void subtract(double *restrict x, double f, const double *restrict y, int n) {
    for (int k = 0; k < n; k += WIDE) {
        *(four *)(x + k) -= f * *(const four *)(y + k);
        *(four *)(x + k + 4) -= f * *(const four *)(y + k + 4);
    }
}

static double square(const double *x, int n) {
    four p = {0, 0, 0, 0}, q = p;
    for (int k = 0; k < n; k += WIDE) {
        p += *(const four *)(x + k) * *(const four *)(x + k);
        q += *(const four *)(x + k + 4) * *(const four *)(x + k + 4);
    }
    p += q;
    return (p[0] + p[1]) + (p[2] + p[3]);
}

void tableau_clear(Tableau *t) {
    for (int c = 0; c < t->n; c++) t->cost[c] = 0;
    t->m = t->n = t->n_vars = t->pivots = 0;
}

static void make_room(Tableau *t, int m, int n, int vars) {
    if (n > t->n_room) {
        int room = (n + n / 2 + 32) / WIDE * WIDE; /* so that whole eights fit in */
        double *wider = NEW(double, (size)t->m_room * room);
        for (int r = 0; r < t->m; r++)
            for (int c = 0; c < t->n; c++) wider[(size)r * room + c] = row_of(t, r)[c];
        FREE(t->t, (size)t->m_room * t->n_room);
        t->t = wider;
        MORE(t->cost, t->n_room, room);
        MORE(t->col_var, t->n_room, room);
        t->n_room = room;
    }
    if (m > t->m_room) {
        int room = m + m / 2 + 32;
        MORE(t->t, (size)t->m_room * t->n_room, (size)room * t->n_room);
        MORE(t->rhs, t->m_room, room);
        MORE(t->row_var, t->m_room, room);
        t->m_room = room;
    }
    if (vars > t->v_room) {
        int room = vars + vars / 2 + 64;
        MORE(t->where, t->v_room, room);
        MORE(t->kind, t->v_room, room);
        t->v_room = room;
    }
}

int tableau_row(Tableau *t, int n, const int *var, const double *coef, double rhs, enum kind slack) {
    make_room(t, t->m + 1, t->n, t->n_vars + 1);
    int r = t->m++, me = t->n_vars++;
    double *row = row_of(t, r);
    for (int c = 0; c < t->n_room; c++) row[c] = 0;
    for (int k = 0; k < n; k++) {
        int at = t->where[var[k]];
        if (coef[k] == 0) continue;
        if (at < 0) row[~at] += coef[k];
        else {
            subtract(row, coef[k], row_of(t, at), t->n);
            rhs -= coef[k] * t->rhs[at];
            t->work += t->n;
        }
    }
    t->rhs[r] = rhs;
    t->row_var[r] = me;
    t->where[me] = r;
    t->kind[me] = slack;
    return me;
}

int tableau_column(Tableau *t, int n, const int *slack, const double *coef, double gain, enum kind kind) {
    make_room(t, t->m, t->n + 1, t->n_vars + 1);
    int c = t->n++, me = t->n_vars++;
    for (int r = 0; r < t->m; r++) row_of(t, r)[c] = 0;
    t->cost[c] = -gain;
    for (int k = 0; k < n; k++) {
        int at = t->where[slack[k]];
        if (coef[k] == 0) continue;
        if (at >= 0) row_of(t, at)[c] += coef[k];
        else {
            for (int r = 0; r < t->m; r++) row_of(t, r)[c] += coef[k] * row_of(t, r)[~at];
            t->cost[c] += coef[k] * t->cost[~at];
            t->work += t->m;
        }
    }
    t->col_var[c] = me;
    t->where[me] = ~c;
    t->kind[me] = kind;
    return me;
}

static void pivot(Tableau *t, int r, int c) {
    double *row = row_of(t, r), inverse = 1.0 / row[c];
    row[c] = 1.0;
    for (int k = 0; k < t->n; k++) row[k] *= inverse;
    t->rhs[r] *= inverse;
    for (int q = 0; q < t->m; q++) {
        double *other = row_of(t, q), f = other[c];
        if (q == r) continue;
        other[c] = 0;
        if (f > -NOISE && f < NOISE) continue;
        subtract(other, f, row, t->n);
        t->rhs[q] -= f * t->rhs[r];
    }
    double f = t->cost[c];
    t->cost[c] = 0;
    subtract(t->cost, f, row, t->n);
    int in = t->col_var[c], out = t->row_var[r];
    t->row_var[r] = in;
    t->where[in] = r;
    t->col_var[c] = out;
    t->where[out] = ~c;
    t->pivots++;
    t->work += (double)t->m * t->n;
}

void tableau_enter(Tableau *t, int slack, int var) { pivot(t, t->where[slack], ~t->where[var]); }

void tableau_shift(Tableau *t, int slack, double by) {
    int at = t->where[slack];
    if (by == 0) return;
    if (at >= 0) t->rhs[at] += by;
    else
        for (int r = 0; r < t->m; r++) t->rhs[r] += by * row_of(t, r)[~at];
}

void tableau_gain(Tableau *t, int var, double by) {
    int at = t->where[var];
    if (at < 0) t->cost[~at] -= by;
    else subtract(t->cost, -by, row_of(t, at), t->n);
}

void tableau_drop(Tableau *t, int var) {
    int at = t->where[var];
    t->where[var] = NOWHERE;
    if (at >= 0) {
        int last = --t->m;
        if (at == last) return;
        double *here = row_of(t, at), *there = row_of(t, last);
        for (int c = 0; c < t->n; c++) here[c] = there[c];
        t->rhs[at] = t->rhs[last];
        t->row_var[at] = t->row_var[last];
        t->where[t->row_var[at]] = at;
    } else {
        int c = ~at, last = --t->n;
        for (int r = 0; r < t->m; r++) {
            row_of(t, r)[c] = row_of(t, r)[last];
            row_of(t, r)[last] = 0;
        }
        t->cost[c] = t->cost[last];
        t->cost[last] = 0;
        if (c == last) return;
        t->col_var[c] = t->col_var[last];
        t->where[t->col_var[c]] = ~c;
    }
}

/* Of the rows that allow for about as much of a column (Harris), the one with the largest entry. */
static int leaving(const Tableau *t, int c) {
    int r = -1;
    double bound = 1e300, largest = 0;
    for (int q = 0; q < t->m; q++) {
        double entry = row_of(t, q)[c];
        if (entry > SMALL && t->kind[t->row_var[q]] != FREE_) {
            double ratio = ((t->rhs[q] > 0 ? t->rhs[q] : 0) + OFF) / entry;
            if (ratio < bound) bound = ratio;
        }
    }
    for (int q = 0; q < t->m; q++) {
        double entry = row_of(t, q)[c];
        if (entry > largest && entry > SMALL && t->kind[t->row_var[q]] != FREE_ && t->rhs[q] <= bound * entry) {
            largest = entry;
            r = q;
        }
    }
    return r;
}

int tableau_relax(Tableau *t, int slack) {
    if (is_basic(t, slack)) return 1;
    int r = leaving(t, ~t->where[slack]);
    if (r >= 0) pivot(t, r, ~t->where[slack]);
    return r >= 0;
}

/* The column that gains most enters. */
int tableau_primal(Tableau *t) {
    for (int step = 0; step < MOST; step++) {
        int c = -1;
        double least = -OFF;
        for (int j = 0; j < t->n; j++)
            if (t->cost[j] < least && t->kind[t->col_var[j]] != FIXED) {
                least = t->cost[j];
                c = j;
            }
        if (c < 0) return 1;
        int r = leaving(t, c);
        if (r < 0) return 0; /* no bound: noise */
        pivot(t, r, c);
    }
    return 0;
}

/* The row that is violated most for its length leaves (steepest edge). */
int tableau_dual(Tableau *t) {
    for (int step = 0; step < MOST; step++) {
        int r = -1, c = -1;
        double most = 0, bound = 1e300, largest = 0;
        for (int q = 0; q < t->m; q++)
            if (t->rhs[q] < -OFF && t->kind[t->row_var[q]] != FREE_) {
                double steep = t->rhs[q] * t->rhs[q] / (square(row_of(t, q), t->n) + 1e-12);
                if (steep > most) {
                    most = steep;
                    r = q;
                }
            }
        if (r < 0) return 1;
        const double *row = row_of(t, r);
        for (int j = 0; j < t->n; j++)
            if (row[j] < -SMALL && t->kind[t->col_var[j]] != FIXED) {
                double ratio = ((t->cost[j] > 0 ? t->cost[j] : 0) + OFF) / -row[j];
                if (ratio < bound) bound = ratio;
            }
        for (int j = 0; j < t->n; j++)
            if (row[j] < -SMALL && t->kind[t->col_var[j]] != FIXED && t->cost[j] <= bound * -row[j] && -row[j] > largest) {
                largest = -row[j];
                c = j;
            }
        if (c < 0) return 0; /* not feasible: noise */
        pivot(t, r, c);
    }
    return 0;
}
