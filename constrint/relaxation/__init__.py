"""Linear relaxations: rows that hold in every solution, solved in floating point, with exact bounds."""
