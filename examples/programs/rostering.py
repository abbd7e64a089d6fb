"""Rostering: rules as an automaton, demands as counts, and as many wishes granted as possible."""

from constrint import Model, global_cardinality, regular

OFF, EARLY, LATE = range(3)
nurses, days = 5, 7
wishes = [(0, 5, OFF), (0, 6, OFF), (1, 2, EARLY), (2, 0, LATE), (3, 3, OFF), (4, 6, OFF)]

# No early shift on the day after a late one, and at most three days of work in a row.
step = {}
for worked in range(4):
    for last in (OFF, EARLY, LATE):
        for shift in (OFF, EARLY, LATE):
            if shift == OFF:
                step[worked, last, shift] = (0, OFF)
            elif worked < 3 and not (last == LATE and shift == EARLY):
                step[worked, last, shift] = (worked + 1, shift)
transitions = [((w, s), shift, after) for (w, s, shift), after in step.items()]

m = Model()
x = m.int_vars("x", (nurses, days), 0, 2)
m.add(regular(row, transitions, (0, OFF), set(step.values())) for row in x)
m.add(global_cardinality(x[:, day], {EARLY: 2, LATE: 1}) for day in range(days))
r = m.solve(maximize=sum(x[n, d] == s for n, d, s in wishes))
print(r.objective)

# > 6
