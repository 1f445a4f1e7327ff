"""JSON: lines of objects, and GeoJSON; each record by itself."""
