// What a C++ compiler asserts of abi.h: that every field lies where the host thinks that it lies.
// Printed from turbo_fzn/engine/abi/abi.py by `python -m turbo_fzn.engine.abi.header --write`: edit that one.
#pragma once

#include <stddef.h>

#define SAME(expression, value) \
  static_assert((expression) == (value), "host and kernels differ: python -m turbo_fzn.engine.abi.header --write")
#define ABI_DIGEST "98cbccf8e726646c"

SAME(INFINITE_BOUND, 4611686018427387904); SAME(NO_INCUMBENT, 9223372036854775807); SAME(FREE_STRATEGY, 0);
SAME(WARM_START, 1); SAME(FIRST_ANNOTATED, 2); SAME(SHARE_UNIT, 65536); SAME(N_EXTENTS, 2); SAME(N_SIZES, 4);
SAME(N_METHODS, 14); SAME(N_ACTIVITIES, 6); SAME(N_DECISION_SETS, 4); SAME(FIRST_RESTART, 6); SAME(FIRST_LEARNER, 9);
SAME(N_DEPTHS, 25); SAME(STATE_BYTES, 528); SAME(EXCHANGE_SLOTS, 512); SAME(EXCHANGE_LITERALS, 8);
SAME(POSTED_ROWS, 32); SAME(POSTED_TERMS, 512); SAME(HOLE_BITS, 30); SAME(MOST_HOLE_VALUES, 256); SAME(OP_ADD, 0);
SAME(OP_MUL, 1); SAME(OP_DIV, 2); SAME(OP_MOD, 3); SAME(OP_MIN, 4); SAME(OP_MAX, 5); SAME(OP_EQ, 6); SAME(OP_LEQ, 7);
SAME(OP_ELEMENT, 8); SAME(LINEAR_RANGE, 0); SAME(LINEAR_AT_MOST, 1); SAME(LINEAR_EQUAL, 2); SAME(LINEAR_CLAUSE, 3);
SAME(WIDE_ALL_DIFFERENT, 0); SAME(WIDE_CUMULATIVE, 1); SAME(WIDE_ELEMENT, 2); SAME(WIDE_ENERGY, 3);
SAME(WIDE_CIRCUIT, 4); SAME(VAR_INPUT_ORDER, 0); SAME(VAR_FIRST_FAIL, 1); SAME(VAR_ANTI_FIRST_FAIL, 2);
SAME(VAR_SMALLEST, 3); SAME(VAR_LARGEST, 4); SAME(VAR_DOM_W_DEG, 5); SAME(VAR_MAX_REGRET, 6); SAME(VALUE_MIN, 0);
SAME(VALUE_MAX, 1); SAME(VALUE_MEDIAN, 2); SAME(VALUE_SPLIT, 3); SAME(VALUE_REVERSE_SPLIT, 4); SAME(VALUE_RANDOM, 5);
SAME(VALUE_SPLIT_RANDOM, 6); SAME(VALUE_OUT_MIN, 7); SAME(VALUE_OUT_MAX, 8); SAME(VALUE_OUT_MEDIAN, 9);
SAME(VALUE_OUT_RANDOM, 10); SAME(VALUE_PHASE, 11); SAME(VALUE_HINT, 12); SAME(METHOD_TREE, 0); SAME(METHOD_RANDOM, 1);
SAME(METHOD_WINDOW, 2); SAME(METHOD_GRAPH, 3); SAME(METHOD_OBJECTIVE, 4); SAME(METHOD_REPAIR, 5);
SAME(METHOD_WEIGHTED, 6); SAME(METHOD_ANNOTATED, 7); SAME(METHOD_PROBE, 8); SAME(METHOD_PROVER, 9);
SAME(METHOD_FINDER, 10); SAME(METHOD_FOLLOWER, 11); SAME(METHOD_SOLOIST, 12); SAME(METHOD_CORES, 13);
SAME(DECIDE_ALL, 0); SAME(DECIDE_TRUTHS, 1); SAME(DECIDE_UNLINKED, 2); SAME(DECIDE_LABELLED, 3);
SAME(ACTIVITY_FIXPOINT, 0); SAME(ACTIVITY_CHOICE, 1); SAME(ACTIVITY_BACKTRACK, 2); SAME(ACTIVITY_SOLUTION, 3);
SAME(ACTIVITY_DIVE, 4); SAME(ACTIVITY_WAIT, 5); SAME(TRACE_SOLVED, 0); SAME(TRACE_FAILED, 1); SAME(TRACE_BRANCH, 2);
SAME(TRACE_SKIPPED, 3); SAME(LOG_BY_ROW, 1); SAME(LOG_BY_CLAUSE, 2); SAME(LOG_LEARNED, 3); SAME(LOG_ROOT, 4);
SAME(LOG_REFUTED, 5); SAME(LOG_SOLUTION, 6); SAME(LOG_ENDED, 7);

#define BY_WIDTH(narrow, wide) (BOUND_BITS == 32 ? (narrow) : (wide))
SAME(sizeof(Mailbox), 128); SAME(offsetof(Mailbox, asked), 0); SAME(offsetof(Mailbox, answered), 64);
SAME(offsetof(Mailbox, propagations), 72); SAME(offsetof(Mailbox, iterations), 80);
SAME(offsetof(Mailbox, busy_ns), 88); SAME(offsetof(Mailbox, checksum), 96); SAME(offsetof(Mailbox, culprit), 104);
SAME(sizeof(Mailboxes), 24); SAME(offsetof(Mailboxes, memory), 0); SAME(offsetof(Mailboxes, bytes), 8);
SAME(offsetof(Mailboxes, entries), 16); SAME(sizeof(RoundTrips), 48); SAME(offsetof(RoundTrips, round_trips), 0);
SAME(offsetof(RoundTrips, round_trip_ns), 8); SAME(offsetof(RoundTrips, propagation_ns), 16);
SAME(offsetof(RoundTrips, messages), 24); SAME(offsetof(RoundTrips, sent_bytes), 32);
SAME(offsetof(RoundTrips, returned_bytes), 40); SAME(sizeof(DepthCounts), 32); SAME(offsetof(DepthCounts, nodes), 0);
SAME(offsetof(DepthCounts, length), 8); SAME(offsetof(DepthCounts, iterations), 16);
SAME(offsetof(DepthCounts, propagations), 24); SAME(sizeof(LearnStatistics), 96);
SAME(offsetof(LearnStatistics, nogoods), 0); SAME(offsetof(LearnStatistics, literals), 8);
SAME(offsetof(LearnStatistics, lbd), 16); SAME(offsetof(LearnStatistics, minimised), 24);
SAME(offsetof(LearnStatistics, backjumps), 32); SAME(offsetof(LearnStatistics, reductions), 40);
SAME(offsetof(LearnStatistics, told), 48); SAME(offsetof(LearnStatistics, heard), 56);
SAME(offsetof(LearnStatistics, explanations), 64); SAME(offsetof(LearnStatistics, premises), 72);
SAME(offsetof(LearnStatistics, cores), 80); SAME(offsetof(LearnStatistics, explanation_errors), 88);
SAME(sizeof(ProofLog), 48); SAME(offsetof(ProofLog, words), 0); SAME(offsetof(ProofLog, capacity), 8);
SAME(offsetof(ProofLog, written), 16); SAME(offsetof(ProofLog, taken), 24); SAME(offsetof(ProofLog, clauses), 32);
SAME(offsetof(ProofLog, stopped), 40); SAME(sizeof(Row), 16); SAME(offsetof(Row, op), 0); SAME(offsetof(Row, x), 4);
SAME(offsetof(Row, y), 8); SAME(offsetof(Row, z), 12); SAME(sizeof(Watch), 16); SAME(offsetof(Watch, start), 0);
SAME(offsetof(Watch, both), 4); SAME(offsetof(Watch, upper), 8); SAME(offsetof(Watch, end), 12);
SAME(sizeof(Strategy), 16); SAME(offsetof(Strategy, var_choice), 0); SAME(offsetof(Strategy, value_choice), 4);
SAME(offsetof(Strategy, start), 8); SAME(offsetof(Strategy, count), 12); SAME(sizeof(Linear), 32);
SAME(offsetof(Linear, low), 0); SAME(offsetof(Linear, high), 8); SAME(offsetof(Linear, start), 16);
SAME(offsetof(Linear, end), 20); SAME(offsetof(Linear, truth), 24); SAME(offsetof(Linear, kind), 28);
SAME(sizeof(Term), 8); SAME(offsetof(Term, side), 0); SAME(offsetof(Term, factor), 4); SAME(sizeof(Definition), 16);
SAME(offsetof(Definition, row), 0); SAME(offsetof(Definition, var), 4); SAME(offsetof(Definition, sign), 8);
SAME(offsetof(Definition, spare), 12); SAME(sizeof(Reach), 16); SAME(offsetof(Reach, start), 0);
SAME(offsetof(Reach, rows), 4); SAME(offsetof(Reach, end), 8); SAME(offsetof(Reach, definer), 12);
SAME(sizeof(Reader), 8); SAME(offsetof(Reader, row), 0); SAME(offsetof(Reader, factor), 4); SAME(sizeof(Wide), 12);
SAME(offsetof(Wide, kind), 0); SAME(offsetof(Wide, start), 4); SAME(offsetof(Wide, end), 8); SAME(sizeof(Postbox), 64);
SAME(offsetof(Postbox, version), 0); SAME(sizeof(Posted), 64); SAME(offsetof(Posted, sequence), 0);
SAME(offsetof(Posted, high), 8); SAME(offsetof(Posted, used), 16); SAME(offsetof(Posted, n_terms), 24);
SAME(sizeof(Decision), BY_WIDTH(12, 24)); SAME(offsetof(Decision, lower), 0);
SAME(offsetof(Decision, upper), BY_WIDTH(4, 8)); SAME(offsetof(Decision, var), BY_WIDTH(8, 16));
SAME(sizeof(TrailEntry), BY_WIDTH(12, 24)); SAME(offsetof(TrailEntry, lower), 0);
SAME(offsetof(TrailEntry, upper), BY_WIDTH(4, 8)); SAME(offsetof(TrailEntry, var), BY_WIDTH(8, 16));
SAME(sizeof(Level), BY_WIDTH(48, 64)); SAME(offsetof(Level, lower), 0); SAME(offsetof(Level, upper), BY_WIDTH(8, 16));
SAME(offsetof(Level, var), BY_WIDTH(16, 32)); SAME(offsetof(Level, pending), BY_WIDTH(20, 36));
SAME(offsetof(Level, trail_start), BY_WIDTH(24, 40)); SAME(offsetof(Level, path_start), BY_WIDTH(28, 44));
SAME(offsetof(Level, retired_start), BY_WIDTH(32, 48)); SAME(offsetof(Level, strategy), BY_WIDTH(36, 52));
SAME(offsetof(Level, position), BY_WIDTH(40, 56)); SAME(offsetof(Level, output_position), BY_WIDTH(44, 60));
SAME(sizeof(TraceRecord), 48); SAME(offsetof(TraceRecord, lower), 0); SAME(offsetof(TraceRecord, upper), 8);
SAME(offsetof(TraceRecord, tree), 16); SAME(offsetof(TraceRecord, node), 20); SAME(offsetof(TraceRecord, parent), 24);
SAME(offsetof(TraceRecord, alternative), 28); SAME(offsetof(TraceRecord, children), 32);
SAME(offsetof(TraceRecord, status), 36); SAME(offsetof(TraceRecord, var), 40); SAME(sizeof(TraceBranch), 8);
SAME(offsetof(TraceBranch, node), 0); SAME(offsetof(TraceBranch, children), 4); SAME(sizeof(Trace), 80);
SAME(offsetof(Trace, records), 0); SAME(offsetof(Trace, branches), 8); SAME(offsetof(Trace, capacity), 16);
SAME(offsetof(Trace, written), 24); SAME(offsetof(Trace, taken), 32); SAME(offsetof(Trace, lower), 40);
SAME(offsetof(Trace, upper), 48); SAME(offsetof(Trace, tree), 56); SAME(offsetof(Trace, next), 60);
SAME(offsetof(Trace, parent), 64); SAME(offsetof(Trace, alternative), 68); SAME(offsetof(Trace, var), 72);
SAME(sizeof(Common), 448); SAME(offsetof(Common, best), 0); SAME(offsetof(Common, stop), 8);
SAME(offsetof(Common, consumed), 16); SAME(offsetof(Common, ring_head), 24); SAME(offsetof(Common, incomplete), 32);
SAME(offsetof(Common, bound), 40); SAME(offsetof(Common, host_bound), 48); SAME(offsetof(Common, host_best), 56);
SAME(offsetof(Common, improved_ns), 64); SAME(offsetof(Common, proved_by), 72); SAME(offsetof(Common, wished), 76);
SAME(offsetof(Common, turn_end), 80); SAME(offsetof(Common, turn_over), 88); SAME(offsetof(Common, pool_head), 128);
SAME(offsetof(Common, pool_tail), 192); SAME(offsetof(Common, outstanding), 256); SAME(offsetof(Common, shared), 260);
SAME(offsetof(Common, wanted), 320); SAME(offsetof(Common, sent), 328); SAME(offsetof(Common, brought), 336);
SAME(offsetof(Common, fetched), 344); SAME(offsetof(Common, next_part), 384);
SAME(offsetof(Common, skipped_parts), 392); SAME(sizeof(Statistics), 152); SAME(offsetof(Statistics, nodes), 0);
SAME(offsetof(Statistics, failures), 8); SAME(offsetof(Statistics, propagations), 16);
SAME(offsetof(Statistics, iterations), 24); SAME(offsetof(Statistics, solutions), 32);
SAME(offsetof(Statistics, donations), 40); SAME(offsetof(Statistics, replays), 48);
SAME(offsetof(Statistics, restarts), 56); SAME(offsetof(Statistics, peak_level), 64);
SAME(offsetof(Statistics, busy_ns), 72); SAME(offsetof(Statistics, idle_ns), 80); SAME(offsetof(Statistics, moves), 88);
SAME(offsetof(Statistics, fixpoint_errors), 96); SAME(offsetof(Statistics, activity_ticks), 104);
SAME(sizeof(Island), 64); SAME(offsetof(Island, version), 0); SAME(offsetof(Island, value), 8);
SAME(offsetof(Island, patience), 16); SAME(sizeof(Units), 64); SAME(offsetof(Units, version), 0);
SAME(sizeof(MethodBook), 128); SAME(offsetof(MethodBook, tries), 0); SAME(offsetof(MethodBook, busy_ns), 8);
SAME(offsetof(MethodBook, improvements), 16); SAME(offsetof(MethodBook, recent_ns), 24);
SAME(offsetof(MethodBook, recent_gain), 32); SAME(offsetof(MethodBook, running), 40);
SAME(offsetof(MethodBook, share), 48); SAME(sizeof(PoolSlot), 16); SAME(offsetof(PoolSlot, length), 0);
SAME(sizeof(Parcel), 16); SAME(offsetof(Parcel, sequence), 0); SAME(offsetof(Parcel, length), 8);
SAME(sizeof(RingSlot), 32); SAME(offsetof(RingSlot, sequence), 0); SAME(offsetof(RingSlot, objective), 8);
SAME(offsetof(RingSlot, block), 16); SAME(offsetof(RingSlot, method), 24); SAME(sizeof(Problem), 720);
SAME(offsetof(Problem, rows), 0); SAME(offsetof(Problem, watches), 8); SAME(offsetof(Problem, watchers), 16);
SAME(offsetof(Problem, tables), 24); SAME(offsetof(Problem, root_lower), 32); SAME(offsetof(Problem, root_upper), 40);
SAME(offsetof(Problem, strategies), 48); SAME(offsetof(Problem, strategy_vars), 56);
SAME(offsetof(Problem, exports), 64); SAME(offsetof(Problem, neighbours), 72);
SAME(offsetof(Problem, neighbour_groups), 80); SAME(offsetof(Problem, owners), 88); SAME(offsetof(Problem, hints), 96);
SAME(offsetof(Problem, weights), 104); SAME(offsetof(Problem, islands), 112); SAME(offsetof(Problem, incumbents), 120);
SAME(offsetof(Problem, phases), 128); SAME(offsetof(Problem, wishes), 136); SAME(offsetof(Problem, units), 144);
SAME(offsetof(Problem, books), 152); SAME(offsetof(Problem, common), 160); SAME(offsetof(Problem, statistics), 168);
SAME(offsetof(Problem, pool_sequences), 176); SAME(offsetof(Problem, pool), 184); SAME(offsetof(Problem, ring), 192);
SAME(offsetof(Problem, outbox), 200); SAME(offsetof(Problem, inbox), 208); SAME(offsetof(Problem, workspace), 216);
SAME(offsetof(Problem, workspace_bytes), 224); SAME(offsetof(Problem, pool_slot_bytes), 232);
SAME(offsetof(Problem, ring_slot_bytes), 240); SAME(offsetof(Problem, seed), 248); SAME(offsetof(Problem, n_vars), 256);
SAME(offsetof(Problem, n_rows), 260); SAME(offsetof(Problem, n_strategies), 264);
SAME(offsetof(Problem, n_exports), 268); SAME(offsetof(Problem, n_neighbours), 272);
SAME(offsetof(Problem, n_groups), 276); SAME(offsetof(Problem, n_islands), 280);
SAME(offsetof(Problem, objective), 284); SAME(offsetof(Problem, sense), 288);
SAME(offsetof(Problem, changed_capacity), 292); SAME(offsetof(Problem, queue_capacity), 296);
SAME(offsetof(Problem, trail_capacity), 300); SAME(offsetof(Problem, level_capacity), 304);
SAME(offsetof(Problem, path_capacity), 308); SAME(offsetof(Problem, pool_slots), 312);
SAME(offsetof(Problem, pool_path), 316); SAME(offsetof(Problem, ring_slots), 320);
SAME(offsetof(Problem, parcels), 324); SAME(offsetof(Problem, parcel_path), 328);
SAME(offsetof(Problem, parcel_bytes), 332); SAME(offsetof(Problem, n_goal_terms), 336);
SAME(offsetof(Problem, lns_percent), 340); SAME(offsetof(Problem, n_blocks), 344);
SAME(offsetof(Problem, use_weights), 348); SAME(offsetof(Problem, project), 352); SAME(offsetof(Problem, methods), 356);
SAME(offsetof(Problem, n_hints), 360); SAME(offsetof(Problem, n_linears), 364); SAME(offsetof(Problem, n_terms), 368);
SAME(offsetof(Problem, n_links), 372); SAME(offsetof(Problem, most_terms), 376); SAME(offsetof(Problem, outputs), 384);
SAME(offsetof(Problem, roles), 400); SAME(offsetof(Problem, decision_sets), 408); SAME(offsetof(Problem, decides), 416);
SAME(offsetof(Problem, learn_statistics), 424); SAME(offsetof(Problem, exchange), 432);
SAME(offsetof(Problem, learn_bytes), 440); SAME(offsetof(Problem, depths), 448);
SAME(offsetof(Problem, split_bits), 456); SAME(offsetof(Problem, needs_learners), 460);
SAME(offsetof(Problem, linears), 464); SAME(offsetof(Problem, terms), 472); SAME(offsetof(Problem, linear_wakes), 480);
SAME(offsetof(Problem, clauses), 488); SAME(offsetof(Problem, absorbed), 496); SAME(offsetof(Problem, links), 504);
SAME(offsetof(Problem, link_rows), 512); SAME(offsetof(Problem, n_clauses), 520);
SAME(offsetof(Problem, n_clause_literals), 524); SAME(offsetof(Problem, n_hole_words), 528);
SAME(offsetof(Problem, n_levels), 532); SAME(offsetof(Problem, wides), 536);
SAME(offsetof(Problem, wide_arguments), 544); SAME(offsetof(Problem, holes), 552);
SAME(offsetof(Problem, wide_wakes), 560); SAME(offsetof(Problem, n_wides), 568);
SAME(offsetof(Problem, most_arguments), 572); SAME(offsetof(Problem, posted), 576);
SAME(offsetof(Problem, posted_bytes), 584); SAME(offsetof(Problem, n_counters), 588);
SAME(offsetof(Problem, n_store_vars), 592); SAME(offsetof(Problem, n_store_rows), 596);
SAME(offsetof(Problem, n_sums), 600); SAME(offsetof(Problem, n_short_sums), 604);
SAME(offsetof(Problem, store_watches), 608); SAME(offsetof(Problem, store_watchers), 616);
SAME(offsetof(Problem, sums), 624); SAME(offsetof(Problem, sum_terms), 632);
SAME(offsetof(Problem, defining_rows), 640); SAME(offsetof(Problem, defining_levels), 648);
SAME(offsetof(Problem, goal_terms), 656); SAME(offsetof(Problem, goal_constant), 664);
SAME(offsetof(Problem, definitions), 672); SAME(offsetof(Problem, definition_places), 680);
SAME(offsetof(Problem, reaches), 688); SAME(offsetof(Problem, readers), 696); SAME(offsetof(Problem, sum_scales), 704);
SAME(offsetof(Problem, n_definitions), 712); SAME(offsetof(Problem, walks), 716);

#undef BY_WIDTH
#undef SAME
