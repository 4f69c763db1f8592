/* A linear program as a condensed tableau, warm under every change.

       max z = z0 - cost·x_N,        x_B + T x_N = rhs,        x >= 0 but for free variables

   Rows belong to basic variables, columns to the others. A constraint is known by its slack: a new column is a sum of
   the columns of slacks, and another right-hand side shifts along one. Rows that are missed enter by the dual simplex
   method, columns by the primal one. Answers carry rounding errors; whoever reads them makes them feasible. */
#pragma once

#include "memory.h"

enum kind { NONNEGATIVE, FREE_, FIXED }; /* a free variable never leaves, a fixed one is 0 and never enters */

typedef struct {
    int m, n, m_room, n_room, n_vars, v_room, pivots;
    double *t, *rhs, *cost; /* t[r * n_room + c] */
    int *row_var, *col_var;
    int *where;                    /* by variable: its row, or ~column */
    unsigned char *kind;           /* by variable */
    double work;                   /* entries touched */
} Tableau;

void tableau_clear(Tableau *t);
int tableau_row(Tableau *t, int n, const int *var, const double *coef, double rhs, enum kind slack);
int tableau_column(Tableau *t, int n, const int *slack, const double *coef, double gain, enum kind kind);
void tableau_enter(Tableau *t, int slack, int var); /* `var` takes the place of a basic `slack` */
int tableau_relax(Tableau *t, int slack);            /* make a slack basic; whether that can be had */
void tableau_shift(Tableau *t, int slack, double by);
void tableau_gain(Tableau *t, int var, double by);
void tableau_drop(Tableau *t, int var); /* with its row or column: it is 0 from now on, or a slack nobody needs */
int tableau_primal(Tableau *t);         /* whether it got to an optimum */
int tableau_dual(Tableau *t);

static inline int is_basic(const Tableau *t, int var) { return t->where[var] >= 0; }
static inline double value_of(const Tableau *t, int var) { return is_basic(t, var) ? t->rhs[t->where[var]] : 0; }
static inline double price_of(const Tableau *t, int var) { return is_basic(t, var) ? 0 : t->cost[~t->where[var]]; }
