import cpmpy as cp

OFF, EARLY, LATE = range(3)
nurses, days = 5, 7
wishes = [(0, 5, OFF), (0, 6, OFF), (1, 2, EARLY), (2, 0, LATE), (3, 3, OFF), (4, 6, OFF)]

# No early shift on the day after a late one, and at most three days of work in a row.
number = {(worked, last): 3 * worked + last for worked in range(4) for last in (OFF, EARLY, LATE)}
step = {}
for worked in range(4):
    for last in (OFF, EARLY, LATE):
        for shift in (OFF, EARLY, LATE):
            if shift == OFF:
                step[worked, last, shift] = (0, OFF)
            elif worked < 3 and not (last == LATE and shift == EARLY):
                step[worked, last, shift] = (worked + 1, shift)
transitions = [(number[w, s], shift, number[after]) for (w, s, shift), after in step.items()]

x = cp.intvar(0, 2, shape=(nurses, days), name="x")
m = cp.Model()
m += [cp.Regular(row, transitions, number[0, OFF], list(number.values())) for row in x]
m += [cp.GlobalCardinalityCount(x[:, day], [EARLY, LATE], [2, 1]) for day in range(days)]
m.maximize(cp.sum(x[n, d] == s for n, d, s in wishes))
m.solve()
print(m.objective_value())
