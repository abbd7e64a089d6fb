"""The planner: components, variable orders, vectorised joins and layered diagrams."""
