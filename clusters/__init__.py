"""Word clusters. numpy only; works without DyNet."""
