"""The statements of Blocki, Grigorescu and Mukherjee 2021 on sampling and groups, measured."""
