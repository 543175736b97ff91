"""A small convolutional network, trained for so many seconds of the processor: what images are usually learned with.

Needs torch (`pip install torch`), which is not among the requirements: it is large.
"""

import io
import time

import numpy


class Network:
    """Three pairs of convolutions, each followed by pooling, and a mean over what is left; images are mirrored and moved by up
    to four pixels at random. The learning rate rises and falls with the time that has gone by."""

    def __init__(self, seed, threads, cpu_seconds=600.0, width=32, batch=128, learning_rate=0.01, weight_decay=0.05):
        self.seed, self.threads, self.cpu_seconds = seed, threads, cpu_seconds
        self.width, self.batch = width, batch
        self.learning_rate, self.weight_decay = learning_rate, weight_decay

    def build(self, channels, classes):
        from torch import nn

        def pair(inputs, outputs):
            layers = []
            for before in (inputs, outputs):
                layers += [nn.Conv2d(before, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()]
            return layers

        width = self.width
        return nn.Sequential(*pair(channels, width), nn.MaxPool2d(2), *pair(width, 2 * width), nn.MaxPool2d(2),
                             *pair(2 * width, 4 * width), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                             nn.Linear(4 * width, classes))

    def images(self, x):
        """Rows of pixels as images: of three colours where that makes a square, else grey."""
        import torch
        channels = 3 if round((x.shape[1] / 3) ** 0.5) ** 2 * 3 == x.shape[1] else 1
        side = round((x.shape[1] / channels) ** 0.5)
        pixels = torch.from_numpy(numpy.ascontiguousarray(x, numpy.float32))
        return pixels.reshape(len(x), channels, side, side)

    def fit(self, x, y):
        import torch
        from torch.nn import functional
        torch.set_num_threads(self.threads)
        torch.manual_seed(self.seed)
        begun = time.process_time()
        x, y = self.images(x), torch.from_numpy(numpy.asarray(y, numpy.int64))
        self.mean, self.deviation = x.mean((0, 2, 3), keepdim=True), x.std((0, 2, 3), keepdim=True)
        x = (x - self.mean) / self.deviation
        self.network = self.build(x.shape[1], int(y.max()) + 1).to(memory_format=torch.channels_last)
        optimizer = torch.optim.AdamW(self.network.parameters(), weight_decay=self.weight_decay)
        self.epochs, side = 0.0, x.shape[2]
        while True:
            order = torch.randperm(len(x))
            for first in range(0, len(x), self.batch):
                part = (time.process_time() - begun) / self.cpu_seconds
                if part >= 1.0:
                    return self
                for group in optimizer.param_groups:
                    group["lr"] = self.learning_rate * max(min(part / 0.2, (1.0 - part) / 0.8), 1e-3)
                rows = order[first:first + self.batch]
                some = functional.pad(x[rows], (4, 4, 4, 4), mode="replicate")
                across, down = torch.randint(0, 9, (2,)).tolist()
                some = some[:, :, down:down + side, across:across + side]
                turned = torch.rand(len(some)) < 0.5
                some[turned] = some[turned].flip(3)
                loss = functional.cross_entropy(self.network(some.contiguous(memory_format=torch.channels_last)), y[rows])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                self.epochs += len(rows) / len(x)

    def predict_proba(self, x):
        import torch
        self.network.eval()
        x = (self.images(x) - self.mean) / self.deviation
        with torch.no_grad():
            given = [torch.softmax(self.network(part), 1) for part in x.split(1000)]
        return torch.cat(given).numpy()

    def predict(self, x):
        return self.predict_proba(x).argmax(1)

    def saved_bytes(self):
        import torch
        file = io.BytesIO()
        torch.save(self.network.state_dict(), file)
        return file.tell()
