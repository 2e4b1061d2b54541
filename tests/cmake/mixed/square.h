#pragma once

// Squares numbers on the device; returns how many are wrong.
int square(int count);
