# A run's folder is none of the system's, whoever asks for it.
for folder in / /etc /etc/muster-runs /usr /usr/bin/run /proc /srv /mnt/ \
    /var/lib /var/../media
do
    "$MUSTER" train gen:gmm:200,4 -n 2 --steps 2 --out "$folder" 2>&1
    echo "exit $?"
done
ln -s / root
"$MUSTER" train gen:gmm:200,4 -n 2 --steps 2 --out root 2>&1
"$MUSTER" product A.npy B.npy C.npy --out / 2>&1
# What a kill leaves of files that are written beside their places is no run's,
# and goes with the next.
mkdir left
: >left/config.tmp.0123456789abcdef
: >left/facts.tmp.0123456789abcdef
: >left/mine.tmp.0123456789abcdef
: >left/config.tmp.mine
"$MUSTER" train gen:gmm:200,4 -n 2 --steps 2 --out left -q >out.txt
echo "exit $?"
ls left | grep tmp
