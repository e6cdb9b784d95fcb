"""Matching streams as they come, with Structured Streaming.

Spark's stateful operators cost per key and per row, so keys are hashed into a few dozen *buckets*:

    packing     rows → one packed row per task and bucket, before the shuffle; and back again after
    processor   what Spark calls for every bucket (`transformWithState`)
    bucket      what happens there: late events, events that wait for the watermark, the engine
    ordering    events in the order that a batch job gives them
    stream      a streaming DataFrame and a query → the DataFrame of its matches
"""
