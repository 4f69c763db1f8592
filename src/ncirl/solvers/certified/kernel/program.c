/* P_A(s, b) live: what it is made of enters when it is missed (`lp.program` has the same, over HiGHS).

       max V   over plans A >= 0
       V   <= Σ A(a,θ) r(a,d,θ) + γ Σ_i weight[i,d] V_i        every defence d
       V_i <= α·β_i,   β_i = mass[i] @ A                       every plane α above what follows i
       Σ_a A(a,θ) = b(θ)

   From above the planes are the defender's vectors, from below those that touch the hull of the attacker's points: one
   program for both sides. Where the belief is a choice, mass m is bought at prices ζ: max V - ζ·m, Σ_a A = m, Σ m = 1. */
#include "kernel.h"

#define RESTART 4000  /* pivots after which rounding errors are left behind */
#define ROUNDS 200
#define ROUND 1e4     /* work of a round beside what is counted */
#define IDLE_PLANES 1 /* answers in which a plane has not been of use */
#define IDLE_ACTIONS 12
#define RISEN 0.3     /* of what may be missed: what a plane may lie below points */

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
    p->values = NEW(int, s->n_o);
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

/* V_i <= α·β_i */
void program_plane(Program *p, int i, const double *plane, int node) {
    const State *s = p->here;
    int n_t = p->n_t, n = 0, most = 1 + (s->by_action ? 1 : p->n_actions) * n_t;
    int *var = NEW(int, most);
    double *coef = NEW(double, most);
    var[n] = p->values[i];
    coef[n++] = 1;
    for (int x = 0; x < (s->by_action ? 1 : p->n_actions); x++) {
        int a = s->by_action ? s->owner[i] : p->action[x];
        double q = mass(s, i, a);
        if (q > 0)
            for (int t = 0; t < n_t; t++) {
                var[n] = p->plan[a * n_t + t];
                coef[n++] = -q * plane[t];
            }
    }
    if (p->n_planes == p->planes_room) {
        int had = p->planes_room, room = 2 * had + 64;
        MORE(p->plane_slack, had, room);
        MORE(p->plane_of, had, room);
        MORE(p->plane_node, had, room);
        MORE(p->plane_idle, had, room);
        MORE(p->plane, had * n_t, room * n_t);
        p->planes_room = room;
    }
    int c = p->n_planes++;
    p->plane_slack[c] = tableau_row(&p->t, n, var, coef, 0, NONNEGATIVE);
    p->plane_of[c] = i;
    p->plane_node[c] = node;
    p->plane_idle[c] = 0;
    for (int t = 0; t < n_t; t++) p->plane[c * n_t + t] = plane[t];
    FREE(var, most);
    FREE(coef, most);
}

/* Give an observation its column V_i, and a first plane: what is best where nothing has been revealed. */
static void open(Kernel *k, Program *p, int i) {
    const State *s = p->here;
    int toward = s->toward[i];
    double *coef = NEW(double, s->n_d);
    for (int x = 0; x < p->n_defences; x++) coef[x] = -k->discount * weight(s, i, p->defence[x]);
    p->values[i] = tableau_column(&p->t, p->n_defences, p->defence_slack, coef, 0, FREE_);
    program_plane(p, i, p->stand_in + toward * p->n_t, p->stand_in_node[toward]);
    tableau_enter(&p->t, p->plane_slack[p->n_planes - 1], p->values[i]);
    FREE(coef, s->n_d);
}

/* Whether A(a, θ) may be more than 0: from below an intent plays what it may, and nothing where there is none of it. */
static enum kind playing(const Kernel *k, const Program *p, int a, int t) {
    if (p->side == ABOVE) return NONNEGATIVE;
    int may = p->here->may_attack[a * k->n_t + p->intents[t]] && (p->prices || p->belief[t] > 0);
    return may ? NONNEGATIVE : FIXED;
}

static void add_action(Kernel *k, Program *p, int a) {
    const State *s = p->here;
    int n_t = p->n_t, most = 1 + p->n_defences + p->n_planes;
    int *slack = NEW(int, most);
    double *coef = NEW(double, most);
    for (int t = 0; t < n_t; t++) {
        int n = 0;
        slack[n] = p->equal[t];
        coef[n++] = 1;
        for (int x = 0; x < p->n_defences; x++) {
            slack[n] = p->defence_slack[x];
            coef[n++] = -s->reward[(a * s->n_d + p->defence[x]) * k->n_t + p->intents[t]];
        }
        for (int c = 0; c < p->n_planes && !s->by_action; c++) {
            slack[n] = p->plane_slack[c];
            coef[n++] = -mass(s, p->plane_of[c], a) * p->plane[c * n_t + t];
        }
        p->plan[a * n_t + t] = tableau_column(&p->t, n, slack, coef, 0, playing(k, p, a, t));
    }
    FREE(slack, most);
    FREE(coef, most);
    p->idle[p->n_actions] = 0;
    p->action[p->n_actions++] = a;
    p->acts[a] = 1;
    if (s->by_action)
        for (int i = s->first[a]; i < s->first[a + 1]; i++) open(k, p, i);
}

static void add_defence(Kernel *k, Program *p, int d) {
    const State *s = p->here;
    int n_t = p->n_t, n = 0;
    if (!s->by_action)
        for (int i = s->first[d]; i < s->first[d + 1]; i++) open(k, p, i);
    int most = 1 + p->n_actions * n_t + s->n_o;
    int *var = NEW(int, most);
    double *coef = NEW(double, most);
    var[n] = p->value;
    coef[n++] = 1;
    for (int x = 0; x < p->n_actions; x++)
        for (int t = 0; t < n_t; t++) {
            var[n] = p->plan[p->action[x] * n_t + t];
            coef[n++] = -s->reward[(p->action[x] * s->n_d + d) * k->n_t + p->intents[t]];
        }
    for (int i = 0; i < s->n_o; i++)
        if (p->values[i] >= 0 && weight(s, i, d) > 0) {
            var[n] = p->values[i];
            coef[n++] = -k->discount * weight(s, i, d);
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
            add_action(k, p, a = b);
            may = 1;
        }
    tableau_enter(&p->t, p->equal[t], p->plan[a * p->n_t + t]);
}

/* Build the program anew: feasible with one action and one defence, then those that were of use lately. */
static int start(Kernel *k, Program *p) {
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
    for (int i = 0; i < s->n_o; i++) p->values[i] = -1;
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
    add_action(k, p, p->likely_actions[0]);
    for (int t = 0; t < n_t; t++) begin_intent(k, p, t);
    if (p->prices) tableau_enter(&p->t, p->total, p->bought[0]);
    add_defence(k, p, p->likely_defences[0]);
    tableau_enter(&p->t, p->defence_slack[0], p->value);
    for (int x = 1; x < p->n_likely_actions; x++)
        if (!p->acts[p->likely_actions[x]]) add_action(k, p, p->likely_actions[x]);
    int ok = tableau_primal(&p->t);
    for (int x = 1; x < p->n_likely_defences; x++) add_defence(k, p, p->likely_defences[x]);
    p->fresh = 0;
    p->begun = 1;
    p->t.pivots = 0;
    return ok && tableau_dual(&p->t);
}

/* Read the plan, the mixed defence and the prices of what follows off the program. */
static void read_answer(Kernel *k, Program *p) {
    const State *s = p->here;
    Answer *found = &k->answer;
    int n_t = p->n_t;
    double all = 0, *worth = found->promised;
    for (int z = 0; z < s->n_a * n_t; z++) found->plan[z] = 0;
    for (int x = 0; x < p->n_actions; x++)
        for (int t = 0; t < n_t; t++) {
            double v = value_of(&p->t, p->plan[p->action[x] * n_t + t]);
            found->plan[p->action[x] * n_t + t] = v > 0 ? v : 0;
        }
    found->n_mixed = 0;
    for (int x = 0; x < p->n_defences; x++) {
        double v = price_of(&p->t, p->defence_slack[x]);
        if (v > ACTIVE) {
            found->defence[found->n_mixed] = p->defence[x];
            found->chance[found->n_mixed++] = v;
            all += v;
        }
    }
    for (int x = 0; x < found->n_mixed; x++) found->chance[x] /= all;
    double *total = NEW(double, s->n_o);
    for (int i = 0; i < s->n_o; i++) {
        found->reach[i] = 0;
        for (int x = 0; x < found->n_mixed; x++) found->reach[i] += found->chance[x] * weight(s, i, found->defence[x]);
        for (int t = 0; t < n_t; t++) worth[i * n_t + t] = 0;
    }
    for (int c = 0; c < p->n_planes; c++) {
        double v = price_of(&p->t, p->plane_slack[c]);
        if (v > ACTIVE) {
            total[p->plane_of[c]] += v;
            for (int t = 0; t < n_t; t++) worth[p->plane_of[c] * n_t + t] += v * p->plane[c * n_t + t];
        }
    }
    for (int i = 0; i < s->n_o; i++)
        for (int t = 0; t < n_t; t++) {
            if (total[i] > 0) worth[i * n_t + t] /= total[i];
            else worth[i * n_t + t] = p->stand_in[s->toward[i] * n_t + t];
        }
    FREE(total, s->n_o);
}

/* Add the defence that would pay least, if it would pay less. */
static int missed_defence(Kernel *k, Program *p) {
    const State *s = p->here;
    int n_t = p->n_t, which = -1;
    double least = k->missed, value = value_of(&p->t, p->value), *plan = k->answer.plan;
    for (int d = 0; d < s->n_d; d++) {
        if (p->defends[d] || (p->side == ABOVE && !s->may_defend[d])) continue;
        double pays = 0;
        for (int x = 0; x < p->n_actions; x++) {
            const double *r = s->reward + (p->action[x] * s->n_d + d) * k->n_t, *m = plan + p->action[x] * n_t;
            for (int t = 0; t < n_t; t++) pays += m[t] * r[p->intents[t]];
        }
        for (int i = s->by_action ? 0 : s->first[d]; i < (s->by_action ? s->n_o : s->first[d + 1]); i++) {
            double chance = k->discount * weight(s, i, d), later = 0;
            if (p->values[i] >= 0) later = value_of(&p->t, p->values[i]);
            else if (!s->by_action) {
                double beta[INTENTS];
                posterior(s, i, plan, n_t, beta);
                if (p->side == BELOW) later = hull(k, s->leads[i], beta, 0, 0, 0, 0);
                else vectors_at(k, &k->vectors.shelf[s->leads[i]], n_t, p->intents, beta, &later);
            }
            pays += chance * later;
        }
        if (value - pays > least) {
            least = value - pays;
            which = d;
        }
    }
    if (which >= 0) add_defence(k, p, which);
    return which >= 0;
}

/* Add the action that gains most over what the belief's rows say an intent gets, if it gains anything. */
static int missed_action(Kernel *k, Program *p) {
    const State *s = p->here;
    const Answer *found = &k->answer;
    int n_t = p->n_t, which = -1;
    double most = k->missed;
    for (int a = 0; a < s->n_a; a++) {
        if (p->acts[a]) continue;
        double gets[INTENTS];
        for (int t = 0; t < n_t; t++) {
            gets[t] = 0;
            for (int x = 0; x < found->n_mixed; x++)
                gets[t] += found->chance[x] * s->reward[(a * s->n_d + found->defence[x]) * k->n_t + p->intents[t]];
        }
        for (int i = s->by_action ? s->first[a] : 0; i < (s->by_action ? s->first[a + 1] : s->n_o); i++) {
            double chance = k->discount * mass(s, i, a) * found->reach[i];
            for (int t = 0; t < n_t && chance > 0; t++) gets[t] += chance * found->promised[i * n_t + t];
        }
        for (int t = 0; t < n_t; t++) {
            double gains = gets[t] - price_of(&p->t, p->equal[t]);
            if (gains > most && playing(k, p, a, t) == NONNEGATIVE) {
                most = gains;
                which = a;
            }
        }
    }
    if (which >= 0) add_action(k, p, which);
    return which >= 0;
}

static void forget_plane(Program *p, int c) {
    int last = --p->n_planes;
    tableau_drop(&p->t, p->plane_slack[c]);
    p->plane_slack[c] = p->plane_slack[last];
    p->plane_of[c] = p->plane_of[last];
    p->plane_node[c] = p->plane_node[last];
    p->plane_idle[c] = p->plane_idle[last];
    for (int t = 0; t < p->n_t; t++) p->plane[c * p->n_t + t] = p->plane[last * p->n_t + t];
}

/* Drop an action that nobody plays and all that would follow it: they are 0. */
static void forget_action(Program *p, int x) {
    const State *s = p->here;
    int a = p->action[x];
    for (int c = p->n_planes - 1; c >= 0; c--)
        if (s->owner[p->plane_of[c]] == a) forget_plane(p, c);
    for (int i = s->first[a]; i < s->first[a + 1]; i++) {
        tableau_drop(&p->t, p->values[i]);
        p->values[i] = -1;
    }
    for (int t = 0; t < p->n_t; t++) tableau_drop(&p->t, p->plan[a * p->n_t + t]);
    p->acts[a] = 0;
    p->action[x] = p->action[--p->n_actions];
    p->idle[x] = p->idle[p->n_actions];
}

/* Drop what has not been of use for a while. */
static void tidy(Program *p) {
    for (int x = p->n_actions - 1; x >= 0 && p->here->by_action; x--) {
        int basic = 0;
        for (int t = 0; t < p->n_t; t++) basic |= is_basic(&p->t, p->plan[p->action[x] * p->n_t + t]);
        p->idle[x] = basic ? 0 : p->idle[x] + 1;
        if (p->idle[x] > IDLE_ACTIONS) forget_action(p, x);
    }
    for (int c = p->n_planes - 1; c >= 0; c--) {
        p->plane_idle[c] = price_of(&p->t, p->plane_slack[c]) > ACTIVE ? 0 : p->plane_idle[c] + 1;
        if (p->plane_idle[c] > IDLE_PLANES && is_basic(&p->t, p->plane_slack[c])) forget_plane(p, c);
    }
}

/* Take note of what follows where nothing is revealed. */
static void stand_in(Kernel *k, Program *p) {
    const State *s = p->here;
    for (int x = 0; x < s->n_s; x++) {
        double *plane = p->stand_in + x * p->n_t, value;
        if (p->side == BELOW) hull(k, s->successors[x], p->belief, plane, 0, 0, 0);
        else {
            const Shelf *shelf = &k->vectors.shelf[s->successors[x]];
            int at = vectors_at(k, shelf, p->n_t, p->intents, p->belief, &value);
            p->stand_in_node[x] = shelf->node[at];
            for (int t = 0; t < p->n_t; t++) plane[t] = shelf->coordinate[p->intents[t]][at];
        }
    }
}

/* Points have risen: lift the planes that no longer lie above them. Called where the program is at its last optimum. */
static int renew(Kernel *k, Program *p) {
    const State *s = p->here;
    int n_t = p->n_t, n = p->n_planes, lifted = 0;
    for (int c = 0; c < n; c++) {
        int x = s->toward[p->plane_of[c]];
        const Shelf *shelf = &k->points.shelf[s->successors[x]];
        double lacks = 0, plane[INTENTS];
        for (int z = p->read[x]; z < shelf->n_news; z++) {
            int node = shelf->news[z];
            double off = k->points.worth[node] - dot(p->plane + c * n_t, k->points.belief + (size)node * n_t, n_t);
            if (off > lacks) lacks = off;
        }
        k->work += (double)(shelf->n_news - p->read[x]) * n_t;
        if (lacks < RISEN * k->missed) continue;
        for (int t = 0; t < n_t; t++) plane[t] = p->plane[c * n_t + t] + lacks;
        program_plane(p, p->plane_of[c], plane, -1);
        if (!tableau_relax(&p->t, p->plane_slack[c])) return 0;
        p->plane_idle[c] = -1;
        lifted++;
    }
    for (int c = n - 1; c >= 0 && lifted; c--)
        if (p->plane_idle[c] < 0) forget_plane(p, c);
    for (int x = 0; x < s->n_s; x++) p->read[x] = k->points.shelf[s->successors[x]].n_news;
    return !lifted || tableau_primal(&p->t);
}

static void settle(Kernel *k, Program *p, int ok) {
    for (int round = 0; round < ROUNDS && ok; round++) {
        k->work += p->t.work + ROUND;
        p->t.work = 0;
        read_answer(k, p);
        if (is_late(k)) break;
        if (p->side == ABOVE ? vectors_missed(k, p) : points_missed(k, p)) ok = tableau_dual(&p->t);
        else if (missed_defence(k, p)) ok = tableau_dual(&p->t);
        else if (missed_action(k, p)) ok = tableau_primal(&p->t);
        else break;
    }
    k->solves++;
    if (!ok) {
        read_answer(k, p);
        k->failures++;
        p->fresh = 1;
    }
}

void program_at(Kernel *k, Program *p, const double *belief) {
    int ok;
    if (p->t.pivots > RESTART || (p->side == BELOW && !p->fresh && !renew(k, p))) p->fresh = 1;
    for (int t = 0; t < p->n_t; t++) {
        if (!p->fresh) tableau_shift(&p->t, p->equal[t], belief[t] - p->belief[t]);
        p->belief[t] = belief[t];
    }
    for (int x = 0; x < p->n_actions && !p->fresh; x++)
        for (int t = 0; t < p->n_t; t++)
            p->t.kind[p->plan[p->action[x] * p->n_t + t]] = playing(k, p, p->action[x], t);
    stand_in(k, p);
    ok = p->fresh ? start(k, p) : tableau_dual(&p->t) && tableau_primal(&p->t);
    settle(k, p, ok);
    if (!p->fresh) tidy(p);
}

void program_for(Kernel *k, Program *p, const double *prices) {
    int ok;
    if (p->t.pivots > RESTART || (!p->fresh && !renew(k, p))) p->fresh = 1;
    for (int t = 0; t < p->n_t; t++) {
        if (!p->fresh) tableau_gain(&p->t, p->bought[t], p->prices[t] - prices[t]);
        p->prices[t] = prices[t];
        if (!p->begun) p->belief[t] = 1.0 / p->n_t;
    }
    stand_in(k, p);
    ok = p->fresh ? start(k, p) : tableau_primal(&p->t);
    settle(k, p, ok);
    if (!p->fresh) tidy(p);
}
