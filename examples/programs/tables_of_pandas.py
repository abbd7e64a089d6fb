"""pandas: data frames as input and output."""

import pandas as pd

from constrint import Model

ships = pd.DataFrame({"cargo": [12, 30, 18, 25], "crew": [2, 5, 3, 4]}, index=["ada", "bea", "cleo", "dora"])

m = Model()
sails = m.bool_vars("sails", len(ships))
m.add(ships.cargo.to_numpy() @ sails >= 40, ships.crew.to_numpy() @ sails <= 9)
table = m.solutions().to_pandas()
table.columns = ships.index
print(table.astype(int).to_string(index=False))

# >  ada  bea  cleo  dora
# >    0    0     1     1
# >    0    1     0     1
# >    0    1     1     0
# >    1    0     1     1
# >    1    1     0     0
