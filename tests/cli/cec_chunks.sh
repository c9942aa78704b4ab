# cec on few rows names the largest chunks that are small enough.
train() { "$MUSTER" train gen:gmm:$rows,3 -n 5 --code cec:l=$l --steps 1 -q "$@" 2>&1 | grep -e muster: -e objective; }
for rows in 398 257 7; do
	for l in 3 4; do
		said=$(train)
		echo "$said"
		chunk=${said##*--chunk-rows }
		train --chunk-rows "$chunk"
		train --chunk-rows $((chunk + 1))
	done
done
rows=3
train
