"""The studio: a map with a privacy slider, and the JSON API under it. `covey studio` starts it (docs/guide/studio.md).

Nothing here touches rows: they are read behind the door (covey.private), after the charge. Importing this package costs
nothing; `covey.studio.app` needs the extra `covey[studio]`.
"""
