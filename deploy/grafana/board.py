#!/usr/bin/env python3
"""Writes macaron.json, the Grafana board: python3 deploy/grafana/board.py > deploy/grafana/macaron.json"""
import json

SOURCE = {"type": "prometheus", "uid": "${datasource}"}
ROWS = [
    ("Turns", [
        ("Turns a second, by how they closed", "ops", [("sum by (status) (rate(macaron_turns_total{SEL}[RATE]))", "{{status}}")]),
        ("Answers a second, by adapter", "ops", [("sum by (adapter) (rate(macaron_answers_total{SEL}[RATE]))", "{{adapter}}")]),
        ("Routing, by reason", "ops", [("sum by (reason) (rate(macaron_routes_total{SEL}[RATE]))", "{{reason}}")]),
        ("Errors a second, by code", "ops", [("sum by (code) (rate(macaron_errors_total{SEL}[RATE]))", "{{code}}")]),
        ("Turns that run and wait", "short", [("sum(macaron_turns_running{SEL})", "running"), ("sum(macaron_turns_waiting{SEL})", "waiting")]),
        ("Summaries a second, by source", "ops", [("sum by (source) (rate(macaron_summaries_total{SEL}[RATE]))", "{{source}}"),
                                                  ("sum(rate(macaron_summary_retries_total{SEL}[RATE]))", "tried again")]),
    ]),
    ("Model calls", [
        ("Time of a hop, median and 95 %", "s", [("histogram_quantile(0.5, sum by (le, hop) (rate(macaron_hop_seconds_bucket{SEL}[RATE])))", "{{hop}} 50 %"),
                                                 ("histogram_quantile(0.95, sum by (le, hop) (rate(macaron_hop_seconds_bucket{SEL}[RATE])))", "{{hop}} 95 %")]),
        ("Time to the first token of a hop, median and 95 %", "s", [("histogram_quantile(0.5, sum by (le, hop) (rate(macaron_hop_first_token_seconds_bucket{SEL}[RATE])))", "{{hop}} 50 %"),
                                                                    ("histogram_quantile(0.95, sum by (le, hop) (rate(macaron_hop_first_token_seconds_bucket{SEL}[RATE])))", "{{hop}} 95 %")]),
        ("Tokens a second, by hop and kind", "ops", [("sum by (hop, kind) (rate(macaron_hop_tokens_total{SEL}[RATE]))", "{{hop}} {{kind}}")]),
        ("Share of the prompts' tokens that was cached", "percentunit", [("sum by (hop) (rate(macaron_hop_tokens_total{kind=\"cached\",SELIN}[RATE])) / sum by (hop) (rate(macaron_hop_tokens_total{kind=\"prompt\",SELIN}[RATE]))", "{{hop}}")]),
        ("Share of all hops' time", "percentunit", [("sum by (hop) (rate(macaron_hop_seconds_sum{SEL}[RATE])) / on () group_left () sum(rate(macaron_hop_seconds_sum{SEL}[RATE]))", "{{hop}}")]),
    ]),
    ("HTTP", [
        ("Requests a second, by interface", "ops", [("sum by (api) (rate(macaron_http_requests_total{SEL}[RATE]))", "{{api}}")]),
        ("Requests a second, by class of status", "ops", [("sum by (class) (rate(macaron_http_requests_total{SEL}[RATE]))", "{{class}}")]),
        ("Time of a request, 99 %", "s", [("histogram_quantile(0.99, sum by (le, api) (rate(macaron_http_request_seconds_bucket{SEL}[RATE])))", "{{api}}")]),
    ]),
    ("Engines below", [
        ("Well", "short", [("macaron_upstream_well{SEL}", "{{instance}} {{engine}}")]),
        ("Breakers that are not closed", "short", [("macaron_upstream_breaker{state!=\"closed\",SELIN} > 0", "{{instance}} {{engine}} {{state}}")]),
    ]),
    ("Embedded engine", [
        ("Sequences", "short", [("sum(macaron_engine_num_requests_running{SEL})", "running"), ("sum(macaron_engine_num_requests_waiting{SEL})", "waiting")]),
        ("Tokens a second", "ops", [("sum(rate(macaron_engine_prompt_tokens_total{SEL}[RATE]))", "prompts"), ("sum(rate(macaron_engine_generation_tokens_total{SEL}[RATE]))", "answers")]),
        ("Memory for keys and values in use", "percentunit", [("macaron_engine_kv_cache_usage_perc{SEL}", "{{instance}}")]),
        ("Share of prompts found in the cache", "percentunit", [("sum(rate(macaron_engine_prefix_cache_hits_total{SEL}[RATE])) / sum(rate(macaron_engine_prefix_cache_queries_total{SEL}[RATE]))", "hits")]),
        ("Adapters", "short", [("sum(macaron_engine_lora_loaded{SEL})", "in memory"), ("sum(macaron_engine_lora_in_use{SEL})", "in use"), ("sum(increase(macaron_engine_lora_evictions_total{SEL}[RATE]))", "evicted")]),
    ]),
    ("Training", [
        ("Operations a second, by kind and outcome", "ops", [("sum by (op, outcome) (rate(macaron_training_operations_total{SEL}[RATE]))", "{{op}} {{outcome}}")]),
        ("Promises that are pending", "short", [("sum(macaron_training_pending{SEL})", "promises")]),
        ("Bytes that they take, and that were collected", "bytes", [("sum(macaron_training_pending_bytes{SEL})", "pending"), ("sum(increase(macaron_training_collected_bytes_total{SEL}[RATE]))", "collected")]),
        ("Sessions, models and samplers", "short", [("sum(macaron_training_sessions{SEL})", "sessions"), ("sum(macaron_training_models{SEL})", "models"), ("sum(macaron_training_models_resident{SEL})", "models in memory"), ("sum(macaron_training_samplers{SEL})", "samplers")]),
        ("Snapshots, and operations carried out again", "ops", [("sum(rate(macaron_training_snapshots_total{SEL}[RATE]))", "snapshots"), ("sum(rate(macaron_training_replayed_total{SEL}[RATE]))", "again")]),
    ]),
    ("Process", [
        ("Memory", "bytes", [("process_resident_memory_bytes{SEL}", "{{instance}} resident"), ("go_memstats_heap_inuse_bytes{SEL}", "{{instance}} heap")]),
        ("Processor", "short", [("rate(process_cpu_seconds_total{SEL}[RATE])", "{{instance}}")]),
        ("Goroutines and open files", "short", [("go_goroutines{SEL}", "{{instance}} goroutines"), ("process_open_fds{SEL}", "{{instance}} files")]),
        ("Settings read again", "short", [("sum by (outcome) (increase(macaron_config_reloads_total{SEL}[RATE]))", "{{outcome}}")]),
        ("Versions", "short", [("count by (version) (macaron_build_info{SEL})", "{{version}}")]),
    ]),
]


def query(text):
    within = 'job=~"$job",instance=~"$instance"'
    return text.replace("SELIN", within).replace("SEL", within).replace("RATE", "$__rate_interval")


def variable(name, query):
    return {"name": name, "type": "query", "datasource": SOURCE, "query": query, "refresh": 2, "includeAll": True, "multi": True,
            "allValue": ".*", "current": {"text": "All", "value": "$__all"}}


def panels():
    out, y, n = [], 0, 1
    for title, row in ROWS:
        out.append({"id": n, "type": "row", "title": title, "collapsed": False, "gridPos": {"h": 1, "w": 24, "x": 0, "y": y}, "panels": []})
        n, y = n + 1, y + 1
        for i, (name, unit, queries) in enumerate(row):
            out.append({
                "id": n, "type": "timeseries", "title": name, "datasource": SOURCE, "gridPos": {"h": 8, "w": 8, "x": 8 * (i % 3), "y": y + 8 * (i // 3)},
                "fieldConfig": {"defaults": {"unit": unit, "min": 0}, "overrides": []},
                "targets": [{"refId": chr(65 + k), "datasource": SOURCE, "expr": query(q), "legendFormat": legend} for k, (q, legend) in enumerate(queries)],
            })
            n += 1
        y += 8 * ((len(row) + 2) // 3)
    return out


print(json.dumps({
    "title": "Macaron", "uid": "macaron", "schemaVersion": 39, "version": 1, "tags": ["macaron"], "refresh": "30s", "time": {"from": "now-3h", "to": "now"},
    "templating": {"list": [
        {"name": "datasource", "type": "datasource", "query": "prometheus"},
        variable("job", "label_values(macaron_build_info, job)"),
        variable("instance", 'label_values(macaron_build_info{job=~"$job"}, instance)'),
    ]},
    "panels": panels(),
}, indent=1))
