# Message sizes with the shape of a web-search workload: half are small, most bytes are in messages above 1 MB.
# An approximation drawn by hand for examples; not a measurement.
# size in bytes, cumulative percentage
1000 0
6000 15
13000 20
19000 30
33000 40
53000 53
133000 60
667000 70
1333000 80
3333000 90
6667000 97
20000000 100
