# Layers as other programs write them: one sentence with the same in layers of
# ours, also where a call has the looks of a file's name.
printf '5.1,3.5,1.4,0.2,a\n4.9,3.0,1.4,0.2,b\n' >t.csv
for net in "Dense(32, activation='relu'), Dense(3)" "Linear(4,32)" "nn.Linear(4, 32)" "nn.Conv2d(1,32,3)" \
	"Conv2D(32,(3,3),activation='relu')" dense32,relu,dense3 dense32-relu-dense3 "Dense(32), Strange(3)" \
	net.txt; do
	"$MUSTER" train t.csv --net "$net" 2>&1
done
# A net that nobody trained has no table to take its shape from.
"$MUSTER" model show "dense32 relu dense3" 2>&1
"$MUSTER" model show "dense32 relu dense3" --shape 1x1x4 | head -3
