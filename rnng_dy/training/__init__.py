"""Training: `train.train` reads the data, opens or makes the model, and runs the loop.

- A minibatch: `loop.Training.run` draws the order of an epoch and takes the next indices from it;
  `data.Examples` encodes the sentences that they stand for.
- An update: `updates.Updater.update` computes the gradient, which `replicas` share, and makes the
  optimizer's step.
- What is saved when: the beginning of `loop` lists the files.
- Options: `plan` divides them into what to train on and how; `presets` has the settings.
"""
