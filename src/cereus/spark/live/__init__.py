"""Matching streams as they come, with Structured Streaming.

Spark's stateful operators cost per key and per row, so keys are hashed into a few dozen *buckets*:

    packing     rows → one packed row per task and bucket, before the shuffle; and back again after
    processor   what Spark calls for every bucket (`transformWithState`)
    bucket      what happens there: late events, events that wait for the watermark, the engine
    state       what a bucket remembers: in Spark's store, in a worker, and read from a checkpoint
    rules       rules that come and go while the stream runs
    messages    what Spark needs to talk to Python about state
    observed    what is counted in each micro-batch
    stream      a streaming DataFrame and a query → the DataFrame of its matches
"""
