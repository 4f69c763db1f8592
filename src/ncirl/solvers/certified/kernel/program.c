/* P_A(s, b) live: what it is made of enters when it is missed (`lp.program` has the same, over HiGHS).

       max V   over plans A >= 0
       V   <= Σ A(a,θ) r(a,d,θ) + γ Σ_i weight[i,d] V_i        every defence d
       V_i <= α·β_i,   β_i = mass[i] @ A                       every plane α above what follows i
       Σ_a A(a,θ) = b(θ)

   From above the planes are the defender's vectors, from below those that touch the hull of the attacker's points: one
   program for both sides. Where the belief is a choice, mass m is bought at prices ζ: max V - ζ·m, Σ_a A = m, Σ m = 1. */
#include "kernel.h"

#define IDLE_PLANES 1 /* answers in which a plane has not been of use */
#define IDLE_ACTIONS 12

double sum(const double *x, int n) {
    double s = 0;
    for (int k = 0; k < n; k++) s += x[k];
    return s;
}

double dot(const double *x, const double *y, int n) {
    double s = 0;
    for (int k = 0; k < n; k++) s += x[k] * y[k];
    return s;
}

void posterior(const State *s, int i, const double *plan, int n_t, double *beta) {
    if (s->by_action) {
        for (int t = 0; t < n_t; t++) beta[t] = plan[s->owner[i] * n_t + t];
        return;
    }
    for (int t = 0; t < n_t; t++) beta[t] = 0;
    for (int a = 0; a < s->n_a; a++) {
        double q = mass(s, i, a);
        if (q > 0)
            for (int t = 0; t < n_t; t++) beta[t] += q * plan[a * n_t + t];
    }
}

void program_make(Program *p, const State *s, enum side side, int n_t, const int *intents, int anywhere) {
    p->here = s;
    p->side = side;
    p->fresh = 1;
    p->n_t = n_t;
    p->intents = NEW(int, n_t);
    for (int t = 0; t < n_t; t++) p->intents[t] = intents[t];
    p->action = NEW(int, s->n_a);
    p->idle = NEW(int, s->n_a);
    p->acts = NEW(byte, s->n_a);
    p->plan = NEW(int, s->n_a * n_t);
    p->defence = NEW(int, s->n_d);
    p->defence_slack = NEW(int, s->n_d);
    p->defends = NEW(byte, s->n_d);
    p->equal = NEW(int, n_t);
    p->some = NEW(int, s->n_o);
    p->belief = NEW(double, n_t);
    p->stand_in = NEW(double, s->n_s * n_t);
    p->stand_in_node = NEW(int, s->n_s);
    p->read = NEW(int, s->n_s);
    p->likely_actions = NEW(int, s->n_a);
    p->likely_defences = NEW(int, s->n_d);
    if (anywhere) {
        p->prices = NEW(double, n_t);
        p->bought = NEW(int, n_t);
    }
}

Program *nearest(Kernel *k, Program *slots, const double *belief) {
    Program *best = 0, *unused = 0;
    double least = 1e300;
    for (int x = 0; x < k->slots; x++) {
        Program *p = &slots[x];
        if (p->fresh) {
            if (!unused) unused = p;
            continue;
        }
        double far = 0;
        for (int t = 0; t < p->n_t; t++) {
            double off = p->belief[t] - belief[t];
            far += off < 0 ? -off : off;
        }
        if (far < least) {
            least = far;
            best = p;
        }
    }
    return best && (least < 0.1 || !unused) ? best : unused;
}

/* What a defence pays for A(a, θ): at once, and by the planes that stand for V_i later. */
static double pays(const Kernel *k, const Program *p, int a, int d, int t) {
    const State *s = p->here;
    double much = s->reward[(a * s->n_d + d) * k->n_t + p->intents[t]];
    int owner = s->by_action ? a : d;
    for (int i = s->first[owner]; i < s->first[owner + 1]; i++)
        much += k->discount * weight(s, i, d) * mass(s, i, a) * p->plane[p->some[i] * p->n_t + t];
    return much;
}

/* Whether A(a, θ) may be more than 0: from below an intent plays what it may, and nothing where there is none of it. */
enum kind program_plays(const Kernel *k, const Program *p, int a, int t) {
    if (p->side == ABOVE) return NONNEGATIVE;
    int may = p->here->may_attack[a * k->n_t + p->intents[t]] && (p->prices || p->belief[t] > 0);
    return may ? NONNEGATIVE : FIXED;
}

void program_action(Kernel *k, Program *p, int a) {
    const State *s = p->here;
    int n_t = p->n_t;
    if (s->by_action)
        for (int i = s->first[a]; i < s->first[a + 1]; i++) program_open(k, p, i);
    int most = 1 + p->n_defences + p->n_planes;
    int *slack = NEW(int, most);
    double *coef = NEW(double, most);
    for (int t = 0; t < n_t; t++) {
        int n = 0;
        slack[n] = p->equal[t];
        coef[n++] = 1;
        for (int x = 0; x < p->n_defences; x++) {
            int d = p->defence[x];
            slack[n] = p->defence_slack[x];
            coef[n++] = s->by_action ? -pays(k, p, a, d, t) : -s->reward[(a * s->n_d + d) * k->n_t + p->intents[t]];
        }
        for (int c = 0; c < p->n_planes && !s->by_action; c++) {
            slack[n] = p->plane_slack[c];
            coef[n++] = -mass(s, p->plane_of[c], a) * p->plane[c * n_t + t];
        }
        p->plan[a * n_t + t] = tableau_column(&p->t, n, slack, coef, 0, program_plays(k, p, a, t));
    }
    FREE(slack, most);
    FREE(coef, most);
    p->idle[p->n_actions] = 0;
    p->action[p->n_actions++] = a;
    p->acts[a] = 1;
}

void program_defence(Kernel *k, Program *p, int d) {
    const State *s = p->here;
    int n_t = p->n_t, n = 0;
    if (!s->by_action)
        for (int i = s->first[d]; i < s->first[d + 1]; i++) program_open(k, p, i);
    int most = 1 + p->n_actions * n_t + s->n_o;
    int *var = NEW(int, most);
    double *coef = NEW(double, most);
    var[n] = p->value;
    coef[n++] = 1;
    for (int x = 0; x < p->n_actions; x++)
        for (int t = 0; t < n_t; t++) {
            var[n] = p->plan[p->action[x] * n_t + t];
            coef[n++] = -pays(k, p, p->action[x], d, t);
        }
    for (int i = 0; i < s->n_o; i++)
        if (p->some[i] >= 0 && weight(s, i, d) > 0) {
            var[n] = p->plane_slack[p->some[i]];
            coef[n++] = k->discount * weight(s, i, d);
        }
    p->defence_slack[p->n_defences] = tableau_row(&p->t, n, var, coef, 0, NONNEGATIVE);
    p->defence[p->n_defences++] = d;
    p->defends[d] = 1;
    FREE(var, most);
    FREE(coef, most);
}

/* Let some action have the mass of an intent. */
static void begin_intent(Kernel *k, Program *p, int t) {
    const State *s = p->here;
    int a = p->action[0], may = p->side == ABOVE;
    for (int x = 0; x < p->n_actions && !may; x++) may = s->may_attack[(a = p->action[x]) * k->n_t + p->intents[t]];
    for (int b = 0; b < s->n_a && !may; b++)
        if (!p->acts[b] && s->may_attack[b * k->n_t + p->intents[t]]) {
            program_action(k, p, a = b);
            may = 1;
        }
    tableau_enter(&p->t, p->equal[t], p->plan[a * p->n_t + t]);
}

/* Build the program anew: feasible with one action and one defence, then those that were of use lately. */
int program_start(Kernel *k, Program *p) {
    const State *s = p->here;
    int n_t = p->n_t;
    if (p->begun) {
        p->n_likely_actions = p->n_actions;
        p->n_likely_defences = p->n_defences;
        for (int x = 0; x < p->n_actions; x++) p->likely_actions[x] = p->action[x];
        for (int x = 0; x < p->n_defences; x++) p->likely_defences[x] = p->defence[x];
    }
    tableau_clear(&p->t);
    p->n_actions = p->n_defences = p->n_planes = 0;
    for (int a = 0; a < s->n_a; a++) p->acts[a] = 0;
    for (int d = 0; d < s->n_d; d++) p->defends[d] = 0;
    for (int i = 0; i < s->n_o; i++) p->some[i] = -1;
    for (int x = 0; x < s->n_s; x++) p->read[x] = k->points.shelf[s->successors[x]].n_news;
    for (int t = 0; t < n_t; t++) p->equal[t] = tableau_row(&p->t, 0, 0, 0, p->prices ? 0 : p->belief[t], FIXED);
    if (p->prices) {
        p->total = tableau_row(&p->t, 0, 0, 0, 1, FIXED);
        for (int t = 0; t < n_t; t++) {
            int slack[2] = {p->equal[t], p->total};
            double coef[2] = {-1, 1};
            p->bought[t] = tableau_column(&p->t, 2, slack, coef, -p->prices[t], NONNEGATIVE);
        }
    }
    p->value = tableau_column(&p->t, 0, 0, 0, 1, FREE_);
    program_action(k, p, p->likely_actions[0]);
    for (int t = 0; t < n_t; t++) begin_intent(k, p, t);
    if (p->prices) tableau_enter(&p->t, p->total, p->bought[0]);
    program_defence(k, p, p->likely_defences[0]);
    tableau_enter(&p->t, p->defence_slack[0], p->value);
    for (int x = 1; x < p->n_likely_actions; x++)
        if (!p->acts[p->likely_actions[x]]) program_action(k, p, p->likely_actions[x]);
    int ok = tableau_primal(&p->t);
    for (int x = 1; x < p->n_likely_defences; x++) program_defence(k, p, p->likely_defences[x]);
    p->fresh = 0;
    p->begun = 1;
    p->t.pivots = 0;
    return ok && tableau_dual(&p->t);
}

/* Drop an action that nobody plays and all that would follow it: they are 0. */
static void forget_action(Program *p, int x) {
    const State *s = p->here;
    int a = p->action[x];
    for (int c = p->n_planes - 1; c >= 0; c--)
        if (s->owner[p->plane_of[c]] == a) program_forget(p, c);
    for (int t = 0; t < p->n_t; t++) tableau_drop(&p->t, p->plan[a * p->n_t + t]);
    p->acts[a] = 0;
    p->action[x] = p->action[--p->n_actions];
    p->idle[x] = p->idle[p->n_actions];
}

/* Drop what has not been of use for a while. */
void program_tidy(Program *p) {
    for (int x = p->n_actions - 1; x >= 0 && p->here->by_action; x--) {
        int basic = 0;
        for (int t = 0; t < p->n_t; t++) basic |= is_basic(&p->t, p->plan[p->action[x] * p->n_t + t]);
        p->idle[x] = basic ? 0 : p->idle[x] + 1;
        if (p->idle[x] > IDLE_ACTIONS) forget_action(p, x);
    }
    for (int c = p->n_planes - 1; c >= 0; c--) {
        p->plane_idle[c] = price_of(&p->t, p->plane_slack[c]) > ACTIVE ? 0 : p->plane_idle[c] + 1;
        if (p->plane_idle[c] > IDLE_PLANES && is_basic(&p->t, p->plane_slack[c]) && program_another(p, c) >= 0)
            program_forget(p, c);
    }
}
