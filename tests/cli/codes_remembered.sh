# A certificate is made once and then read; what is not ours is made again.
file=$HOME/.cache/muster/certificates
seen() {
    "$MUSTER" codes cyclic -n 9 --stragglers 2 | grep '^certificate'
}
first=$(seen)
echo "$first" | sed 's/residual [^ ]* amplification [^ ]*/residual R, amplification A/'
head -n 1 "$file" | cut -d' ' -f1,2
sed -i 's/ 36 1$/ 37 1/' "$file"
echo "changed by hand, believed:"
seen | grep -o 'over.*'
for damage in 's/^muster certificates.*/muster certificates 0.0/' 's/ 3[67] 1$/ 36/' '2s/^/x/'; do
    sed -i "$damage" "$file"
    [ "$(seen)" = "$first" ] && echo "damaged by $damage: made again"
done
sed -i 's/ 36 1$/ 37 1/' "$file" && chmod 644 "$file"
[ "$(seen)" = "$first" ] && echo "open to others: made again"
rm "$file" && mkdir "$file"
[ "$(seen)" = "$first" ] && echo "cannot be written: made each time"
