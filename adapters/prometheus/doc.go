// Package tidemarkprom shows a checkpoint.Checkpointer and a timing.Ledger to
// Prometheus.
//
//	collector, err := tidemarkprom.NewCheckpoints(tidemarkprom.Checkpoints{Snapshot: cp.Snapshot})
//	…
//	prometheus.MustRegister(collector, tidemarkprom.NewBarriers(ledger))
//
// Nothing is kept between scrapes: each one makes its metrics from one
// Snapshot, and a partition that was revoked is gone from the next scrape on.
// Between scrapes it costs nothing.
//
// # Metrics of a Checkpointer
//
// Of each listed partition, with a label partition unless Checkpoints.Labels
// says otherwise:
//
//	tidemark_partition_watermark_offset     absent before the first one
//	tidemark_partition_committed_offset     absent before the first Confirm
//	tidemark_partition_pending_batches
//	tidemark_partition_unresolved_batches
//	tidemark_partition_held_back_seconds    0 if nothing holds it back
//	tidemark_partition_stalled              1 if that is a failed batch, else 0
//
// Of the heads that hold a partition back longest, with the same labels:
//
//	tidemark_head_last_offset
//	tidemark_head_behind_batches
//
// Of all partitions together, whether listed or not:
//
//	tidemark_epoch                          absent before the first one
//	tidemark_admitted_partitions
//	tidemark_held_back_partitions
//	tidemark_stalled_partitions
//	tidemark_unlisted_partitions
//	tidemark_pending_batches
//	tidemark_max_partition_pending_batches
//	tidemark_max_held_back_seconds
//	tidemark_applied_batches_total
//	tidemark_skipped_batches_total
//	tidemark_stale_events_total
//	tidemark_duplicate_releases_total
//	tidemark_unknown_resolutions_total
//	tidemark_leaks_total                    by kind: unreachable, over-released
//
// # Metrics of a Ledger
//
//	tidemark_barrier_records_total
//	tidemark_barrier_records_overwritten_total
//	tidemark_barrier_record_losses_total
//	tidemark_barriers_open
//	tidemark_barrier_open_age_seconds       of the oldest, 0 if none is open
//
// A barrier that is stuck has no sample in any histogram yet: alert on the age
// of the oldest open one.
//
// # Cardinality
//
// Checkpoints.MaxPartitions and Checkpoints.MaxHeads bound the series of a
// scrape, whatever is admitted. Beyond that the partitions that are held back
// longest are listed, then others by number, so which ones those are can differ
// from scrape to scrape; the sums still count them all.
package tidemarkprom
