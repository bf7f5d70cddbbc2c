#!/usr/bin/env bash
#SBATCH --job-name=rarely
#SBATCH --array=1-100
#SBATCH --cpus-per-task=4
#SBATCH --time=02:00:00
#SBATCH --requeue
# One shard per task of a job array. The results directory is on a file system that all nodes share; a task that was
# requeued resumes.
#
#   job=$(sbatch --parsable examples/shards/slurm.sh simulate --runs 10000)
#   sbatch --dependency=afterok:"$job" --wrap 'rarely lab merge results --out merged'
set -euo pipefail

if [ $# -eq 0 ]; then
  set -- reproduce --full
fi
rarely "$@" \
  --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" \
  --threads "$SLURM_CPUS_PER_TASK" \
  --out results
