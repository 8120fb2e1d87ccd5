#!/bin/sh
# Trains an adapter on the model's own verified answers, and measures what it made better and worse.
#
#   BURNISH_DATA=… sh experiments/training.sh OUT [data] [sft] [measure] [report]
#
# Stages that are named are made, all of them unless one is; each goes on where it was cut off. Everything is kept below
# OUT. BASE is a model by name or the folder of one, NAME the adapter, GROUP the rows of tables.py. A rehearsal on a tiny
# random model, which solves nothing itself: BASE=/path/of/it SAMPLER=scripted:gold SAMPLES=1 REPAIRS=1 BUGS=1 LIMIT=3
# ROUNDS=1 STEPS=3 LONGEST=4000. With SECONDS_EACH every command is ended after so many, to be begun again by hand.
set -eu
out=$(mkdir -p "$1" && cd "$1" && pwd) && shift
base=${BASE:-qwen2.5-coder-0.5b} name=${NAME:-candidate} rounds=${ROUNDS:-2}
python="timeout --signal INT ${SECONDS_EACH:-0} ${PYTHON:-.venv/bin/python}"
export BURNISH_HOME="$out/home"
stages=${*:-data sft measure report}
has() { case " $stages " in *" $1 "*) ;; *) return 1 ;; esac; }

if has data; then
    $python -m burnish train data --out "$out/data" --sample "${SAMPLER:-huggingface:$base}" --no-feedback ${LIMIT:+--limit "$LIMIT"} \
        --samples "${SAMPLES:-10}" --repairs "${REPAIRS:-2}" --bugs "${BUGS:-4}"
fi
if has sft; then
    $python -m burnish train sft --data "$out/data" --base "huggingface:$base" --name "$name" \
        $([ "$rounds" = 1 ] || echo --rounds "$rounds") --at-once "${AT_ONCE:-16}" --longest "${LONGEST:-1024}" --seed "${SEED:-0}" ${STEPS:+--steps "$STEPS"} \
        ${RANK:+--rank "$RANK"} ${ONLY:+--only "$ONLY"}
fi
if has measure; then
    $python experiments/tables.py "huggingface:$base" "$out/eval/base" ${GROUP:-trained}
    $python experiments/tables.py "huggingface:$base+$name" "$out/eval/$name" ${GROUP:-trained}
fi
if has report; then
    set --
    for folder in "$out/eval/base"/*; do
        set -- "$@" --before "$folder" --after "$out/eval/$name/${folder##*/}"
    done
    $python -m burnish train report "$name" "$@"
fi
