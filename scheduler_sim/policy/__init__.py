"""What decides which job starts when: the order of the queue and the rule of backfilling.

``policy.policy`` holds a policy as data, with its keys, names and checks; ``policy.order``
holds the formulas of the queue orders.
"""
