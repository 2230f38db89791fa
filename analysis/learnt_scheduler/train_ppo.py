"""Learn a network by MaskablePPO: ``python -m analysis.learnt_scheduler.train_ppo``.

The network scores each action by itself, as the kernel network of Zhang et al., "RLScheduler", SC 2020, and
begins as SJF, which it is shown. Its weights are kept as plain arrays: nobody has to unpickle what they run.
"""

from __future__ import annotations

import argparse
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableMultiInputActorCriticPolicy
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize
from torch import nn

from analysis.learnt_scheduler.agents import INPUTS, LAYERS, QUEUE, WEIGHTS, inputs, spread
from analysis.learnt_scheduler.cases import training

ENVIRONMENTS, STEPS_AT_ONCE, GAMMA, ROUNDS = 4, 1024, 0.99, 20


class OfEachJob(BaseFeaturesExtractor):
    """What ``agents.inputs`` gives, in torch: float32[batch, (window + 1) × INPUTS]."""

    def __init__(self, space: Any) -> None:
        super().__init__(space, (space["queue"].shape[0] + 1) * INPUTS)

    def forward(self, seen: dict[str, torch.Tensor]) -> torch.Tensor:
        """Join the columns of each action with what is the same for all."""
        queue = nn.functional.pad(seen["queue"], (0, 0, 0, 1))
        about = torch.stack([seen["free"].mean(-1), seen["time"][..., -1]], -1)
        around = about[:, None, :].expand(-1, queue.shape[1], -1)
        return spread(torch.cat([queue, around], -1)).flatten(1)


class ScoresAndValue(nn.Module):
    """Scores of the actions by one network for all, and the value by another, from their mean."""

    def __init__(self, actions: int) -> None:
        super().__init__()
        self.actions = self.latent_dim_pi = actions
        self.latent_dim_vf = LAYERS[0]
        self.scores = _layers((INPUTS, *LAYERS, 1))
        self.value = nn.Sequential(_layers((INPUTS, LAYERS[0], LAYERS[0])), nn.Tanh())

    def forward(self, given: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Both."""
        return self.forward_actor(given), self.forward_critic(given)

    def forward_actor(self, given: torch.Tensor) -> torch.Tensor:
        """Scores, float32[batch, actions]."""
        return self.scores(given.unflatten(1, (self.actions, INPUTS)))[..., 0]

    def forward_critic(self, given: torch.Tensor) -> torch.Tensor:
        """What the value is read from."""
        return self.value(given.unflatten(1, (self.actions, INPUTS))).mean(1)


def _layers(sizes: tuple[int, ...]) -> nn.Sequential:
    layers: list[nn.Module] = []
    for into, out in pairwise(sizes):
        layers += [nn.Tanh(), nn.Linear(into, out)]
    return nn.Sequential(*layers[1:])


class KernelPolicy(MaskableMultiInputActorCriticPolicy):
    """The policy of sb3-contrib with these scores as logits."""

    def _build_mlp_extractor(self) -> None:
        self.mlp_extractor = ScoresAndValue(self.action_space.n)

    def _build(self, lr_schedule: Any) -> None:
        super()._build(lr_schedule)
        self.action_net = nn.Identity()
        self.optimizer = self.optimizer_class(self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)


def learn(steps: int, seed: int, shown: int = 8) -> MaskablePPO:
    """Return the model that begins as SJF, shown by so many episodes, after so many steps of its own."""
    torch.set_num_threads(1)
    envs = DummyVecEnv([lambda: Monitor(training()) for _ in range(ENVIRONMENTS)])
    envs = VecNormalize(envs, norm_obs=False, norm_reward=True, gamma=GAMMA)
    model = MaskablePPO(
        KernelPolicy,
        envs,
        policy_kwargs={"features_extractor_class": OfEachJob},
        n_steps=STEPS_AT_ONCE,
        batch_size=STEPS_AT_ONCE // 2,
        n_epochs=6,
        learning_rate=1e-3,
        gamma=GAMMA,
        gae_lambda=0.95,
        stats_window_size=20,
        seed=seed,
        verbose=1,
    )
    imitate(model, *shortest_first(shown, seed))
    return model.learn(steps)


def shortest_first(episodes: int, seed: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return what SJF with EASY backfill sees, what it may do, and what it does, decision by decision."""
    env, limit = training(), QUEUE.index("limit")
    seen_all, masks, actions = [], [], []
    for episode in range(episodes):
        seen, info = env.reset(options={"seed": seed + episode})
        over = False
        while not over:
            mask = info["action_mask"]
            last = 2.0  # the end of the pass comes after any job
            action = int(np.argmin(np.where(mask > 0, np.append(seen["queue"][:, limit], last), np.inf)))
            seen_all.append(spread(inputs(seen)))
            masks.append(mask)
            actions.append(action)
            seen, _, over, _, info = env.step(action)
    given = torch.as_tensor(np.array(seen_all), dtype=torch.float32)
    return given, torch.as_tensor(np.array(masks) > 0), torch.as_tensor(np.array(actions))


def imitate(model: MaskablePPO, given: torch.Tensor, masks: torch.Tensor, actions: torch.Tensor) -> None:
    """Have the network that scores do what it was shown."""
    scores = model.policy.mlp_extractor.scores
    optimizer = torch.optim.Adam(scores.parameters(), lr=1e-3)
    for _ in range(ROUNDS):
        order = torch.randperm(len(actions))
        for some in order.split(256):
            logits = scores(given[some])[..., 0].masked_fill(~masks[some], -1e9)
            loss = nn.functional.cross_entropy(logits, actions[some])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(f"{len(actions)} decisions shown, cross entropy {loss.item():.2f}", flush=True)


def export(model: MaskablePPO, file: Path) -> None:
    """Write the layers that score, as ``agents.kernel`` reads them."""
    layers = [layer for layer in model.policy.mlp_extractor.scores if isinstance(layer, nn.Linear)]
    kept = {}
    for i, layer in enumerate(layers):
        kept[f"weights_{i}"] = layer.weight.detach().numpy()
        kept[f"bias_{i}"] = layer.bias.detach().numpy()
    np.savez(file, **kept)


def main() -> None:
    """Write the weights."""
    name = "python -m analysis.learnt_scheduler.train_ppo"
    parser = argparse.ArgumentParser(prog=name, description=__doc__)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", default=str(WEIGHTS), help="folder of ppo.npz")
    given = parser.parse_args()
    export(learn(given.steps, given.seed), Path(given.out) / "ppo.npz")


if __name__ == "__main__":
    main()
