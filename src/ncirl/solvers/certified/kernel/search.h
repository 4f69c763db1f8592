#pragma once
void walk(Kernel *k);
void trial(Kernel *k);
void improve(Kernel *k);
void bounds_at(Kernel *k, Root *root, double *low, double *high);
