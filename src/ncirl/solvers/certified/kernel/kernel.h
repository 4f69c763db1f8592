/* The search as the kernel sees it: a game in arrays, both controllers, live programs.

   Layers, lowest first: memory, tableau, the game (here), shelf and hull, planes and program, stage with vectors and points, search. */
#pragma once

#include "memory.h"
#include "tableau.h"

#define ACTIVE 1e-9      /* masses and weights below this play no part */
#define ENOUGH 0.2       /* of what may be missed: a rise worth a point */
#define UNLIKELY 1e-6    /* intents less probable than this are taken for impossible */
#define INTENTS 32       /* at most */
#define FRONT 192        /* places of a shelf that are looked at first */
#define BASES 8          /* that are remembered of each state */

typedef unsigned char byte;

/* A public state: observations i are in order of their owners, the attacker's actions where those are seen, else the
   defender's; table[i][k] is the chance of i against action k of the other side. */
typedef struct {
    int number, n_a, n_d, n_o, by_action, loops;
    int n_s, *successors, *toward; /* distinct successors; by observation, its place among them */
    int *owner, *leads, *first;    /* leads: the state an observation leads to; first: of each owner */
    double *table, *reward, *gain; /* reward[a][d][θ]; with what the corners give afterwards */
    double *to_members;            /* reward[a][d][m] */
    byte *may_defend, *may_attack; /* [d], [a][θ] */
    int n_e, *extreme;             /* intents of which the others are mixtures */
    double *spread;                /* [θ][e] */
} State;

static inline double weight(const State *s, int i, int d) {
    return s->by_action ? s->table[i * s->n_d + d] : s->owner[i] == d;
}

static inline double mass(const State *s, int i, int a) {
    return s->by_action ? s->owner[i] == a : s->table[i * s->n_a + a];
}

typedef struct {
    int at, n;
} Span;

/* Entries (observation, node it leads to, chance or share) of all nodes of a controller. */
typedef struct {
    int n, room, *observation, *to;
    double *share;
} Links;

/* What is compared at a state: θ-th coordinates together, those of use lately in front. */
typedef struct {
    int n, room, *node, changes;
    unsigned turn;
    double *coordinate[INTENTS], *gain; /* gain: of points only, over the corners */
    int n_news, news_room, *news;       /* of points only: the nodes that rose, one after another */
} Shelf;

/* The defender's controller. Node n mixes defences and follows its links; where there are none, `rest` by successor. What
   it concedes is known for each member of the intents, where these stand for several that are taken for one, and compared
   on average. The first `whole` nodes are complete. */
typedef struct {
    int n, whole, room, n_mixed, mixed_room, n_rest, rest_room;
    int *state, *place, *rest, *defence; /* place: on the shelf, -1 if it is not there */
    int *heir;                           /* the node that is nowhere higher and took its place, -1 if none did */
    Span *mix, *link;
    int *rest_at;
    double *worth, *chance; /* worth[n][m] */
    Links links;
    Shelf *shelf;
} Vectors;

/* Points among which a mass was parted, -1 for a corner, and the inverse of their beliefs, `made` by so many exchanges. */
typedef struct {
    int made, node[INTENTS];
    double inverse[INTENTS][INTENTS];
} Basis;

/* The attacker's controller. Node n plays mass[a][θ] and follows its links; what they leave goes to the corners. What it
   is worth was last worked out, with the defence that answers it, when the clock stood at `looked`; it last `rose` then. */
typedef struct {
    int n, whole, room, n_planned, planned_room, n_base, base_room;
    int *state, *place, *action, *base_at, *answer;
    int *tried; /* with how much news behind it a node was last improved */
    unsigned clock, *looked, *rose;
    Span *plan, *link;
    double *belief, *worth, *sure, *told, *mass, *base, *corner; /* sure: by the corners; told: as others know it; base[d]: but for the links */
    Links links;
    Shelf *shelf;
    Basis **bases; /* of each state the last few */
    unsigned *last;
} Points;

enum side { ABOVE, BELOW };

/* P_A(s, ·), live: columns V, A(a, θ); rows for the belief, for defences, for planes V_i <= α·β_i. */
typedef struct {
    const State *here;
    Tableau t;
    enum side side;
    int fresh, n_t, *intents, begun;
    int n_actions, *action, *idle, n_defences, *defence, *defence_slack;
    byte *acts, *defends;
    int value, *equal, *plan, *some; /* variables: V, slacks of the belief's rows, A[a][θ]; a plane of each i, or -1 */
    int n_planes, planes_room, *plane_slack, *plane_of, *plane_node, *plane_idle;
    double *plane;                     /* [plane][θ] */
    double *belief;
    double *prices;                    /* of mass, where the belief is a choice: then also */
    int *bought, total;                /* the mass of each intent, and the row that adds them up */
    double *stand_in;                  /* [successor][θ]: what follows where nothing better is known, at the belief */
    int *stand_in_node, *read;         /* read: of the news of each successor, below */
    int n_likely_actions, *likely_actions, n_likely_defences, *likely_defences;
} Program;

/* What a solved program says: A[a][θ], the mixed defence, weight[i]·D, and the plane that prices what follows i. */
typedef struct {
    double *plan, *reach, *promised, *chance;
    int n_mixed, *defence;
} Answer;

/* A start of the game, the most that was ever secured there, and the points among whom it is drawn before anything is
   played, after how many they are: as of when it was last looked at. */
typedef struct {
    double probability, belief[INTENTS], low, share[INTENTS];
    int state, begun[1 + INTENTS];
} Root;

typedef struct {
    int n_states, n_t, every[INTENTS], slots;
    int n_m, *stands; /* members, and the intent that each is taken for; */
    double *odds;     /* its chance there */
    double discount, missed, work, until;
    State *state;
    Vectors vectors;
    Points points;
    Program *narrow, *above, *below, *anywhere; /* above among extreme intents; above, below; below at any belief */
    Answer answer;
    Tableau small;
    Scratch scratch;
    Root *root;
    int n_roots, solves;
    double tried_with; /* what might be missed when points were last tried afresh */
    unsigned long long seed;
} Kernel;

static inline int is_late(const Kernel *k) { return k->work > k->until; }

/* program.c */
void program_make(Program *p, const State *s, enum side side, int n_t, const int *intents, int anywhere);
int program_start(Kernel *k, Program *p);
void program_action(Kernel *k, Program *p, int a);
void program_defence(Kernel *k, Program *p, int d);
enum kind program_plays(const Kernel *k, const Program *p, int a, int t);
void program_tidy(Program *p);
Program *nearest(Kernel *k, Program *slots, const double *belief);
void posterior(const State *s, int i, const double *plan, int n_t, double *beta);
double sum(const double *x, int n);
double dot(const double *x, const double *y, int n);

/* planes.c */
double program_value(const Program *p, int i, const double *beta);
void program_plane(Program *p, int i, const double *plane, int node);
void program_open(Kernel *k, Program *p, int i);
int program_another(const Program *p, int plane);
void program_forget(Program *p, int plane);

/* stage.c */
void program_at(Kernel *k, Program *p, const double *belief);  /* solve at a belief */
void program_for(Kernel *k, Program *p, const double *prices); /* solve where the value exceeds the prices by most */

/* shelf.c */
void shelf_add(Shelf *shelf, int n_t, int node, const double *coordinates, int *place);
void shelf_drop(Shelf *shelf, int n_t, int at, int *place);
int shelf_front(Shelf *shelf, int n_t, int at, int *place); /* bring to the front; return where it is now */

/* vectors.c */
void links_add(Links *links, int observation, int to, double share);
int vectors_new(Kernel *k, int state);
void vectors_mix(Vectors *v, int me, int defence, double chance);
void vectors_rest(Vectors *v, int node);
void vectors_put(Kernel *k, int node);
int vectors_at(Kernel *k, const Shelf *shelf, int n_t, const int *intents, const double *mass_, double *value);
int vectors_missed(Kernel *k, Program *p);
double vectors_evaluate(Kernel *k, int node);
void vectors_sweep(Kernel *k, int most);
void vectors_update(Kernel *k, Program *p, const double *belief);

/* hull.c */
double hull(Kernel *k, int state, const double *beta, double *plane, int *n, int *which, double *share);

/* hiding.c */
int hiding(Kernel *k, const State *s, const double *belief, double known, double *plan);

/* points.c */
int points_new(Kernel *k, int state, const double *belief);
void points_planned(Kernel *k, int node, const double *plan);
void points_put(Kernel *k, int node);
int points_missed(Kernel *k, Program *p);
void points_update(Kernel *k, int state, const double *belief, const double *planned, int instead);
int points_sweep(Kernel *k, int most); /* whether anything rose */
