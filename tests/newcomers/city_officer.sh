# A city officer without Python, at a command line, with files as offices have them. A line that begins with ! is one
# that Covey must refuse. make_files.py writes the files.

covey --help
covey columns trips.xlsx
covey columns trips.csv --header-line 2 --encoding utf-16
covey columns stations.gpkg
covey columns trips.zip

# How much privacy is enough? Nothing is read for that.
covey plan --n 2000 -d 2 -k 3 --place-error 1km --bounds lon=-74.3:-73.65,lat=40.45:41.0

# A budget first, then a release, paid from it.
! covey fit trips.xlsx -k 3 --epsilon 1 --bounds lon=-74.3:-73.65,lat=40.45:41.0 --ledger city.ledger --dataset trips
covey ledger init city.ledger --dataset trips --epsilon 3
! covey ledger init city.ledger --dataset trips --epsilon 3
covey ledger add city.ledger --dataset stations --epsilon 1
covey fit trips.xlsx -k 3 --epsilon 1 --bounds lon=-74.3:-73.65,lat=40.45:41.0 --ledger city.ledger --dataset trips --out release.json --geojson centres.geojson

# The same name again would lose the first one, which is paid for.
! covey fit trips.xlsx -k 4 --epsilon 1 --bounds lon=-74.3:-73.65,lat=40.45:41.0 --ledger city.ledger --dataset trips --out release.json
covey fit trips.csv --header-line 2 --decimal , --encoding utf-16 -k 4 --epsilon 1 --bounds lon=-74.3:-73.65,lat=40.45:41.0 --ledger city.ledger --dataset trips --out release.json --force
! covey fit trips.zip -k 3 --epsilon 2 --bounds lon=-74.3:-73.65,lat=40.45:41.0 --ledger city.ledger --dataset trips
! covey fit trips.zip -k 3 --epsilon 1 --bounds lng=-74.3:-73.65,lat=40.45:41.0
! covey fit office.csv -k 3 --epsilon 1 --bounds lon=-74.3:-73.65,lat=40.45:41.0
covey ledger list city.ledger
covey ledger show city.ledger
covey ledger export city.ledger --entry 4 --out first.json
! covey ledger export city.ledger --entry 4 --out first.json
covey ledger verify city.ledger --release first.json

# One coreset, then as many questions as wanted.
covey coreset stations.gpkg --epsilon 1 --bounds lon=-74.3:-73.65,lat=40.45:41.0 --ledger city.ledger --dataset stations --out stations.json --plot stations.png
covey query stations.json -k 3 --objective k-median --out sites.json
covey query stations.json --centers sites.json
covey studio --node --no-browser --out node.html
