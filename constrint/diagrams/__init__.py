"""Structure before search: components, variable orders, vectorised joins and layered diagrams."""
